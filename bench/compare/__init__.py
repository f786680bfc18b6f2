"""The comparison: every competitor in its own process, asked in turn, checked before it is timed.

``python -m bench.compare`` from the top folder, or ``./run bench``. Read `cases` for what is
measured, `driver` for how, `figures` for the bars, and ``peers/`` for one file per Python library.
"""
