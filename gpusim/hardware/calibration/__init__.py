"""From the raw results of the microbenchmarks to the numbers of a device profile."""
