"""A service that shows projects and scenes, with a client of its own."""
