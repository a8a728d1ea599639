"""Gates that processes share. They are imported on first use: what they need is an extra."""
