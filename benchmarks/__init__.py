"""Benchmarks: each checks its answers, and prints ratios beside seconds."""
