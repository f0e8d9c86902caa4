"""Curved relations: columns of functions, arrows from the noise, and the curves of edges.

Each variable owns columns: itself, and smooth functions of it. As a child it is explained in its
first column, itself, by all columns of its parents.
"""
