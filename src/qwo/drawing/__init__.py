"""Graphs as pictures: a layered layout, one scene of it, and two painters, matplotlib's and SVG's.

No Graphviz; matplotlib only where it paints, and only once it does.
"""
