"""The trace of the rules: which function carries each numbered rule, and which test.

`docs/rules/GAME.md` lists the rules, one a line: `- **HOL-12** two participants: the lower card wins`. A rule is carried by
what names it in a comment, a docstring or its own name: `# HOL-12`, `h.3`, `test_hol_12_h3_…`, `test_example_14_…` (e.14).
`python -m tests.trace` writes the table `docs/trace.md`.
"""

import ast
import pathlib
import re

from heist_envs.games import GAMES

ROOT = pathlib.Path(__file__).parent.parent
TABLE = ROOT / "docs" / "trace.md"

_LISTED = re.compile(r"- \*\*(\S+)\*\* (.+)")
_WRITTEN = re.compile(r"\b([A-Z]{3}-\d+|[ahe]\.\d+)\b")
_IN_NAME = re.compile(r"(?:(?<=_)|^)(hol|acc|cle|mag|example|a|h)_?(\d+)(?=_|$)")


def listed(text):
    """The rules that a page lists, by ID, in their order."""
    found = [match.groups() for match in map(_LISTED.fullmatch, text.splitlines()) if match]
    assert len(dict(found)) == len(found), "a rule is listed twice"
    return dict(found)


def _named(name):
    for kind, number in _IN_NAME.findall(name):
        yield f"e.{number}" if kind == "example" else f"{kind}.{number}" if kind in "ah" else f"{kind.upper()}-{number}"


def carriers(source, tests=False):
    """ID -> the functions and tables of a module that name it; comments right above one belong to it.

    Of a module of tests, the tests only.
    """
    lines = source.splitlines()
    found = {}
    end = 0
    for node in ast.parse(source).body:
        text = "\n".join(lines[end : node.end_lineno])
        end = node.end_lineno
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            name = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        else:
            continue  # the module's docstring and its imports carry nothing
        if tests and not name.startswith("test_"):
            continue
        for rule in {*_WRITTEN.findall(text), *_named(name)}:
            found.setdefault(rule, []).append(name)
    return found


def traces(game):
    """Per rule of a game: (ID, what it says, who carries it in the rules, who in the tests)."""
    rules = listed((ROOT / "docs" / "rules" / f"{game}.md").read_text())
    inside = carriers((ROOT / "heist_envs" / "games" / f"{game}.py").read_text())
    tested = carriers((ROOT / "tests" / "games" / f"test_{game}.py").read_text(), tests=True)
    return [(rule, what, inside.get(rule, []), tested.get(rule, [])) for rule, what in rules.items()]


def missing(rows):
    """Rules that no function or no test carries; a worked example (e.) needs only a test."""
    return [rule for rule, _, inside, tested in rows if not tested or not (inside or rule.startswith("e."))]


def table():
    """The text of `docs/trace.md`."""
    text = [
        "# Trace of the rules",
        "",
        "Which function or table carries each rule, and which test. Made by `python -m tests.trace`.",
    ]
    for game in GAMES:
        text += ["", f"## {game}", "", "| rule | what it says | carried by | tested by |", "|---|---|---|---|"]
        for rule, what, inside, tested in traces(game):
            cells = (", ".join(f"`{name}`" for name in names) for names in (inside, tested))
            text.append(f"| {rule} | {what.replace('|', '/')} | {' | '.join(cells)} |")
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    TABLE.write_text(table())
