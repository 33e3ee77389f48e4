"""From the raw results of the host benches to the host half of a device profile."""
