"""What sends one attempt: the platform's requests and errors, aiohttp, a caller's client, orderly cancellation."""
