"""The posterior: is it calibrated, how long does it take, how far is its graph from the truth?

    python -m benchmarks.posterior calibration [--sets 400 200 80 40] [--jobs 16] [--minutes 8]
    python -m benchmarks.posterior distance [--sets 10] [--jobs 16] [--minutes 3]
    python -m benchmarks.posterior time [--minutes 10]
    python -m benchmarks.posterior calibration --report

Each data set is known by its numbers alone, so that results are the same for any number of
processes. What is done is kept in a file of JSON lines (``--store FOLDER``, .cache/posterior if not
given): a run that has used up its minutes goes on where it ended. ``--report`` runs nothing, but
writes benchmarks/results/posterior-*.csv from what is kept, for the calibration a picture too, and
the tables of docs/benchmarks/posterior.md.
"""
