"""HTTP for asyncio: attempts, gates, connections. Nothing in it knows the platform."""
