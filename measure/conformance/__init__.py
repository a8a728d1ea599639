"""Checks of the sandbox with schemathesis, the Prism proxy, and clients of other teams: `make conformance`."""
