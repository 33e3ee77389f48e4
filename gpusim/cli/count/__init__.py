"""``count``: from the machine code of a kernel to the words of a scenario file."""
