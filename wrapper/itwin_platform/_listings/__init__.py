"""Pagination: lazy pagers, what to request next, resume, and listings beyond the cap of 10,000."""
