"""What the service stores, the rules it enforces, its operations and its queries: values in, values out, no HTTP."""
