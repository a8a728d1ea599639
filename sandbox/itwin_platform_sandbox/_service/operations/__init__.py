"""One module for each operation: a function from what is stored and a request to a response or an error."""
