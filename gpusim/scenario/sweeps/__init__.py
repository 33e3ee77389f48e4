"""Many what-ifs at once."""
