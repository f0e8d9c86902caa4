"""Side by side with FLOP alone, in depth: goals, repeated runs, restarts."""
