"""The tests."""

import os

DECISIONS = int(os.environ.get("HEIST_DECISIONS", "10000"))
"""How many random decisions, or states, of each game the slow comparisons go through: `make campaign` takes more."""
