"""Pagination: pages and their requests, next links, resume, and listings beyond the cap of 10,000."""
