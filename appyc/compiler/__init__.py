"""The compiler driver: from a function and its argument types through the IR and a back end to code that runs."""
