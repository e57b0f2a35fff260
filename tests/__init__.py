"""The tests."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # torch would take all cores in each of the test processes

DECISIONS = int(os.environ.get("HEIST_DECISIONS", "2500"))
"""How many random decisions, or states, of each game the slow comparisons go through: `make campaign` takes more."""
