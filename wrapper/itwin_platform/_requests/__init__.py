"""One call: values become a request, and its response becomes a model or a typed error."""
