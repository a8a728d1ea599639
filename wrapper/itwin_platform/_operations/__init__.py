"""The operations of the service, one module for each group, and the documented rules that they apply.

This is the thin layer over the generated functions: it checks arguments, builds bodies, and returns models.
"""
