"""The body of a response, read within a limit: decompression, and what is kept of one that cannot be read."""
