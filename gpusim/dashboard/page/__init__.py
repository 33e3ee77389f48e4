"""The page around the figure: what is asked for, what is shown, what can be changed."""
