"""The backoff of other clients beside ours: the same herd and the same outage, counted at the server."""
