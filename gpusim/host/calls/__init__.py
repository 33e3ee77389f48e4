"""The host's side: threads and what each of their calls does."""
