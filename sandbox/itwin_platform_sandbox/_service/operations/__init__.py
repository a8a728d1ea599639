"""One module for each operation: a function of what is stored and what was asked, to a response or an error."""
