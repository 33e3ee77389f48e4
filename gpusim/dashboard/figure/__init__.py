"""The timeline figure: a pure function of two sides and a view."""
