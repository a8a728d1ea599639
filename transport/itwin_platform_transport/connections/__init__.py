"""HTTP connections: the pool, the engine, proxies, and the failures of an attempt."""
