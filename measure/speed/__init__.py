"""Benchmarks, which compare clients in one run and promise no absolute times: `make bench`."""
