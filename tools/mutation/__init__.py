"""Mutation testing of the wrapper and the transport."""
