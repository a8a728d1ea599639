"""A service that shows projects and scenes, with a vendored client."""
