// The kernel of every batch is the warp-specialised tile pipeline.
#include "../tma_warp_specialized/kernel.cu"
