"""``kernel:`` of a scenario file: the words of its op lists, checks, and the program that it is."""
