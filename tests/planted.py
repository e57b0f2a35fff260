"""Leaks to plant into a game, which the leak test must catch: each turns a game into the functions that it replaces."""


def put(field, index, value):
    """An entry of a feature that shows `value(state, player, next player)`."""
    return showing(lambda state, player, other, seen: seen[field].__setitem__(index, value(state, player, other)))


def scalar(field, value):
    """A whole feature that shows `value(state, player, next player)`."""
    return showing(lambda state, player, other, seen: seen.__setitem__(field, value(state, player, other)))


def showing(write):
    """An observation into which `write(state, player, next player, seen)` leaks."""

    def plant(game):
        def observe(state, player, seen):
            game.observe(state, player, seen)
            write(state, player, (player + 1) % state.num_players, seen)

        return {"observe": observe}

    return plant


def allowing(action, value):
    """A mask that allows an action only if `value(state)` holds."""

    def plant(game):
        def legal_actions(state, mask):
            game.legal_actions(state, mask)
            mask[action] = mask[action] and value(state)

        return {"legal_actions": legal_actions}

    return plant


def allowing_anyway(action, value):
    """A mask that allows an action if `value(state)` holds, whatever the rules say."""

    def plant(game):
        def legal_actions(state, mask):
            game.legal_actions(state, mask)
            mask[action] = value(state)

        return {"legal_actions": legal_actions}

    return plant


def telling(words):
    """A text with `words(state, viewer)` added."""

    def plant(game):
        def describe(state, viewer=None):
            return game.describe(state, viewer) + words(state, viewer)

        return {"describe": describe}

    return plant
