"""The query parameters of List iTwins: the grammar of `$filter`, the properties, the checks."""
