"""One function for one signature: source to analysed IR, to a back end, to code that runs."""
