"""The backoff of other clients beside ours, under the same rate limit and outage, counted at the server."""
