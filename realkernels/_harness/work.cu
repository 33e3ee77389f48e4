// The kernels of host programs, as a translation unit of their own.
#include "work_early.cuh"
