"""One module for each operation: a function of stored data and a request that returns a response or raises an error."""
