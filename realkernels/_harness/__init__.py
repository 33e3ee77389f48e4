"""Compile, launch and time real CUDA kernels with numpy and CuPy alone.

CuPy is imported inside functions only, so that every module here loads on a machine without a GPU.
"""
