"""The paper's experiments: what is run, how every run is kept, and how it compares.

A wing of its own: nothing else in the package imports it, but for the command ``qwo reproduce``.
One idea per module. `tasks` says what is run and makes a run with its cost, `methods` draws data
and runs a search on a module, `runner` makes what a `store` lacks, `aggregate` puts runs together,
and `figures`, `tables`, `claims` and `page` show them beside the paper's numbers.
"""
