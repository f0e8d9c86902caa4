"""Columns with roles: what variables are computed from; their kinds, levels and curves."""
