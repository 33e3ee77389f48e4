"""What could be changed about a scenario, what that would give, and what to advise."""
