"""``host:`` of a scenario file: the words of its threads, checks, and the program that it is."""
