"""Training: one file an algorithm, the game an argument."""
