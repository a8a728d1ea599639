"""The sandbox, checked by others: schemathesis, the Prism proxy, and another team's client. `make conformance`."""
