"""`python -m tests.playthroughs`"""

from tests.playthroughs import main

main()
