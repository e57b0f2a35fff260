"""The pages that are made from the games' own modules: one for each game, and the page of assumptions.

    python -m docs.pages

A page of a game shows the tables that its module plays by: actions, observation, options, presets, rewards, versions. The
page of assumptions sets each gap ruling of `docs/rules` beside the options that change it.
"""

import inspect
import pathlib
import re
from types import ModuleType
from typing import Any

from heist_envs.games import GAMES, load
from heist_envs.options import Option

DOCS = pathlib.Path(__file__).parent
COMMAND = "python -m docs.pages"

_RULE = re.compile(r"- \*\*(\S+)\*\* (.+)")
_RULING = re.compile(r"\b[A-Z]{3}-\d+\b")
_OPTION = re.compile(r"`(\w+)(?:=[^`]*)?`")


def _cell(text: Any) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def _table(head: list[str], rows: list[list[Any]]) -> list[str]:
    lines = ["| " + " | ".join(map(_cell, line)) + " |" for line in (head, *rows)]
    return [lines[0], "|---" * len(head) + "|", *lines[1:], ""]


def _allowed(option: Option) -> str:
    """What an option may be, in words."""
    if option.allowed is None:
        return "as the game checks it"
    numbers = sorted(value for value in option.allowed if type(value) is int)
    words = [f"`{value!r}`" for value in option.allowed if type(value) is not int]
    if numbers and option.default is None and None not in option.allowed:
        words.insert(0, "`None`")
    if numbers:
        words.append(f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 2 else ", ".join(map(str, numbers)))
    return ", ".join(words)


def _entries(part: slice) -> str:
    """The entries of an observation that a feature takes, the last one included."""
    return f"{part.start}" if part.stop == part.start + 1 else f"{part.start}–{part.stop - 1}"


def title(game: ModuleType) -> str:
    """A game's name as its page of rules writes it."""
    first = (DOCS / "rules" / f"{game.NAME}.md").read_text().splitlines()[0]
    return first.removeprefix("# ").partition(":")[0]


def versions(game: str) -> list[tuple[int, str]]:
    """The behaviour versions that the changelog names, each with the oldest heading under which it does so, oldest first."""
    sections = re.split(r"(?m)^## ", (DOCS.parent / "CHANGELOG.md").read_text())[1:]
    found: dict[int, str] = {}
    for section in reversed(sections):
        for version in re.findall(rf"`heist/{game}-v(\d+)`", section):
            found.setdefault(int(version), section.splitlines()[0])
    return sorted(found.items())


def game_page(name: str) -> str:
    """The page of one game."""
    game = load(name)
    first, _, story = (inspect.getdoc(game) or "").partition("\n\n")
    rules = story.partition("\n\n")[2]  # after the sentence that says whose numbers these are
    text = [
        f"# {title(game)}",
        "",
        first.partition(": ")[2].capitalize()[:1] + first.partition(": ")[2][1:],
        "",
        f"Made from `heist_envs/games/{name}.py` by `{COMMAND}`.",
        "",
        *_table(
            ["id", f"`heist/{name}-v{game.VERSION}`"],
            [
                ["players", f"{game.MIN_PLAYERS} to {game.MAX_PLAYERS}"],
                ["actions", f"{game.NUM_ACTIONS}"],
                ["observation", f"int8 ({game.OBSERVATION.size},)"],
                ["a state", f"{game.STATE.itemsize} bytes"],
                ["presets", ", ".join(f"`{preset}`" for preset in game.PRESETS)],
            ],
        ),
        f'    env = heist_envs.make("{name}", num_players={game.OPTIONS["num_players"].default})',
        "",
        "## Rules",
        "",
        *rules.splitlines(),
        "",
        f"Every rule and ruling, numbered: [the rules](../rules/{name}.md). What was assumed where the text leaves a "
        f"choice, and the option that changes it: [assumptions](../assumptions.md#{title(game).lower()}). Which function "
        f"and which test carry each: [the trace](../trace.md#{name}).",
        "",
        "## Actions",
        "",
        "What the numbers mean to `step`. A seat k places to the left of the one who acts is written +k. The action mask "
        "says which of them are legal.",
        "",
        *_table(["number", "action"], [[number, action] for number, action in enumerate(game.ACTION_NAMES)]),
        "## Observation",
        "",
        f'`heist_envs.observation_layout("{name}")`; the same for every number of players, preset and option. An entry lies '
        "between least and most; learners may divide it by its scale, a usual large value.",
        "",
        *_table(
            ["name", "entries", "shape", "least", "most", "scale", "what it says"],
            [
                [f"`{part}`", _entries(f.slice), f"{f.shape}", f.low, f.high, f.scale, f.about]
                for part, f in game.OBSERVATION.items()
            ],
        ),
        "## Options",
        "",
        "Keywords of `make`, `make_vec`, `parallel_env` and every other door.",
        "",
        *_table(
            ["option", "default", "allowed", "what it is"],
            [[f"`{key}`", f"`{o.default!r}`", _allowed(o), o.about] for key, o in game.OPTIONS.items()],
        ),
        "## Presets",
        "",
        "The same rules on less material. What a preset does not name stays at its default, and what is given with it comes "
        "before it.",
        "",
        *_table(
            ["preset", "options"],
            [
                [f"`{preset}`", ", ".join(f"`{key}={value!r}`" for key, value in options.items())]
                for preset, options in game.PRESETS.items()
            ],
        ),
        "## Rewards",
        "",
        "All rewards come with the end of the game, and they sum to zero. n is the number of players, w is 1 / number of "
        "winners for a winner and 0 for the others; a score reward is clipped to 1, either sign. `reward` is one of:",
        "",
        *(f"- {line}" for line in game.OPTIONS["reward"].about.split("; ")),
        "",
        "## Versions",
        "",
        "The number at the end of the id goes up whenever the same seed and the same actions lead to other states.",
        "",
        *_table(["id", "since"], [[f"`heist/{name}-v{number}`", since] for number, since in versions(name)]),
    ]
    return "\n".join(text).rstrip() + "\n"


def rulings(name: str) -> list[tuple[str, str, list[str]]]:
    """The gap rulings of a game: number, what it says, and the options that change it, which either of both may name."""
    game = load(name)
    lines = (DOCS / "rules" / f"{name}.md").read_text().splitlines()
    rows = []
    for number, says in (match.groups() for match in map(_RULE.fullmatch, lines) if match):
        if _RULING.fullmatch(number):
            named, tables = _OPTION.findall(says), game.OPTIONS.items()
            rows.append((number, says, [k for k, o in tables if k in named or number in _RULING.findall(o.about)]))
    return rows


def assumptions() -> str:
    """The page of everything that was assumed about the games."""
    text = [
        "# Assumptions",
        "",
        f"Made from the rule pages and the games' `OPTIONS` by `{COMMAND}`.",
        "",
        "Where the text of a game leaves a choice, the rule page settles it with a numbered gap ruling. Where tables "
        "differ, the ruling is an option of `make`, and the first table of each game lists these. The second one lists "
        "the rulings that have no option: to play another one, copy the game's module and change the function that [the "
        "trace](trace.md) names ([add a game](add-a-game.md)). The third one lists the options that no ruling is about: "
        "numbers of the game's own text, and what belongs to training, such as the reward.",
        "",
    ]
    for name in GAMES:
        game = load(name)
        found = rulings(name)
        about = {option for _, _, options in found for option in options}
        text += [f"## {title(game)}", "", f"[Rules](rules/{name}.md), [options](games/{name}.md#options).", ""]
        text += _table(
            ["ruling", "what we play", "how to change it"],
            [
                [number, says, "; ".join(_how(option, game.OPTIONS[option]) for option in options)]
                for number, says, options in found
                if options
            ],
        )
        text += _table(["ruling", "what we play, always"], [[number, says] for number, says, given in found if not given])
        text += _table(
            ["option", "default", "allowed", "what it is"],
            [[f"`{k}`", f"`{o.default!r}`", _allowed(o), o.about] for k, o in game.OPTIONS.items() if k not in about],
        )
    return "\n".join(text).rstrip() + "\n"


def _how(name: str, option: Option) -> str:
    default = repr(option.default)
    return f"`{name}`: {_allowed(option)}" + f" (default `{default}`)" * (len(default) < 40)


def pages() -> dict[pathlib.Path, str]:
    """Path -> text of every page that is made here."""
    made = {DOCS / "games" / f"{name}.md": game_page(name) for name in GAMES}
    return made | {DOCS / "assumptions.md": assumptions()}


def main() -> None:
    """Write the pages."""
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
