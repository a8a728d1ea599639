"""Retries, rate limits and access tokens: everything between one call and its attempts."""
