"""The stored data, the rules, the operations and the queries of the service, without HTTP."""
