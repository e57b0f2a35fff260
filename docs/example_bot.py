"""A bot for Hold-up: it keeps a middle card and joins with it, since the second highest card takes the pot."""

KEEP, REDRAW, DONE, JOIN, FOLD, NO_REVOLVER, FLIP = 0, 1, 4, 5, 6, 7, 13


class Bot:
    """Remembers where in an observation its card is."""

    def setup(self, game, num_players, layout):
        """Called once, before the first decision."""
        start, stop, _ = layout["card"]
        self.card = slice(start, stop)

    def act(self, observation, action_mask):
        """The first legal one of the actions that it likes with its card."""
        value = observation[self.card].argmax() + 1
        liked = [KEEP, JOIN] if 6 <= value <= 12 else [REDRAW, FOLD]
        return next(action for action in [*liked, DONE, NO_REVOLVER, FLIP] if action_mask[action])
