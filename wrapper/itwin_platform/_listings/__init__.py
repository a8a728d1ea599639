"""Pagination: lazy pagers, next requests, resume, and listings beyond the cap of 10,000."""
