"""Real CUDA kernels, one folder per pipeline technique, and the harness that measures them."""
