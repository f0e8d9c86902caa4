"""Rows from several regimes: which equations change, and what that says about arrows."""
