"""The promises of retries, tokens and errors, measured at the server: `make reliability`."""
