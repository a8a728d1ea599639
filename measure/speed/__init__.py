"""Benchmarks: ratios side by side in one run, never absolute promises. `make bench` runs them."""
