"""`python -m tests.playthroughs`: write the replays anew."""

from heist_envs.games import GAMES
from tests.playthroughs import FOLDER, text_of
from tests.tables import facts

for game in GAMES:
    for name in facts(game).PLAYTHROUGHS:
        (FOLDER / f"{game}_{name}.json").write_text(text_of(game, name))
