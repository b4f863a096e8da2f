"""The PolyBench 4.2 kernels, written anew from their formulas: one file a kernel.

`suite.KERNELS` lists them, `python -m benchmarks.polybench` runs them.
"""
