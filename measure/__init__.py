"""Everything that produces figures: speed, promises and conformance."""
