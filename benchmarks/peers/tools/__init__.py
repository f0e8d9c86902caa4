"""The tools that are compared, one module each, behind one function ``load(options) -> Call``.

These modules are imported in the environments of other tools, so they import nothing of ours.
A matrix that comes out has A[i, j] = 1 for i → j and 2, in both entries, for an undirected edge.
"""
