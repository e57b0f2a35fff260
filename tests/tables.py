"""What the tests of all games share: tables to play at, words for their facts, and scenarios as sentences."""

from tests.games import holdup_table

FACTS = {"holdup": holdup_table}


def random_options(name, rng):
    """Options of a random table, valid together, as keywords of `make`."""
    return FACTS[name].random_options(rng)


def referee_options(name, options):
    """The same table in the words of the referee, which knows no presets."""
    return FACTS[name].referee_options(options)
