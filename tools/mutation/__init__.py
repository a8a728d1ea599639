"""Mutation testing: how many small changes of the wrapper no test notices."""
