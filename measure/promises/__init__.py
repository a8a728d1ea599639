"""What backoff, tokens and errors promise, measured at the server: `make reliability`."""
