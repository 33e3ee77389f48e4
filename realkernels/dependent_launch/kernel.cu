// What runs on the device is a kernel of known cost; what this technique is about happens around it.
#include "../_harness/work_early.cuh"
