"""The audit of a table: what is looked for in names, rows and sums, and how it is said."""
