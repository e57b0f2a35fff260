"""The pages say what is so: made ones are current, links lead somewhere, and commands, modules and options exist."""

import ast
import contextlib
import importlib
import importlib.util
import io
import pathlib
import re
import shlex
from types import SimpleNamespace

import pytest

from docs import jupyter, pages
from heist_envs.games import GAMES, VERSIONS
from heist_envs.options import Option

TOP = pathlib.Path(__file__).parents[1]
PAGES = sorted([*TOP.glob("*.md"), *TOP.glob("docs/**/*.md"), *jupyter.paths()])
IDS = [str(path.relative_to(TOP)) for path in PAGES]
RESULTS = TOP / "benchmarks" / "results"

_LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
_CODE = re.compile(r"(?ms)^```.*?\n(.*?)^```|^ {4,}(\S[^\n]*)|`([^`\n]+)`")
_COMMAND = re.compile(r"(?m)^(?:\S*/)?((?:python -m [\w.]+|heist \w+|make \w+).*)")
_MODULE = re.compile(r"\bheist_envs(?:\.[a-z_]\w*)+")


def text_of(path):
    """The text of a page; of a notebook its Markdown."""
    return jupyter.page(path) if path.suffix == ".ipynb" else path.read_text()


def commands(text):
    """The commands of a page, as lists of words; GAME and SEED stand for any."""
    code = ("".join(parts) for parts in _CODE.findall(text.replace("\\\n", " ")))
    lines = (line.partition(" #")[0] for one in code for line in _COMMAND.findall(one))
    return [shlex.split(line.replace("GAME", "holdup").replace("SEED", "0")) for line in lines]


def anchors(text):
    """What the headings of a page are called in links."""
    headings = re.findall(r"(?m)^#+ (.+)$", text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def broken(path, text):
    """The links of a page that lead nowhere."""
    for link, anchor in _LINK.findall(text):
        target = (path.parent / link).resolve() if link else path
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            yield f"{link}#{anchor}"


def exists(name):
    """Whether a dotted name is a module, or what one defines or imports; heavy modules are looked at, not imported."""
    first, *rest = name.split(".")
    found = importlib.util.find_spec(first)
    while rest and found.submodule_search_locations and (inside := importlib.util.find_spec(f"{found.name}.{rest[0]}")):
        found, rest = inside, rest[1:]
    nodes = ast.parse(pathlib.Path(found.origin).read_text()).body
    named = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    named |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    named |= {
        target.id for node in nodes if isinstance(node, ast.Assign) for target in node.targets if hasattr(target, "id")
    }
    return not rest or rest[0] in named


def helped(module, words):
    """What a command says of its options; nothing where there is no such command."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        importlib.import_module(module).main([*words, "--help"])
    return said.getvalue()


def refused(words, known):
    """The options of a command that it does not know, or the command itself."""
    if words[0] == "make":
        rules = re.findall(r"(?m)^([\w-]+):", (TOP / "Makefile").read_text())
        inner = [word.partition("=")[2] for word in words[2:] if word.startswith("DEMO=")]
        demo = [word for one in inner for word in shlex.split(one)]
        unknown = refused(["python", "-m", "heist_envs.training.demo", *demo], known)
        return [*unknown, *(word for word in words[1:2] if word not in rules)]
    module, rest = (words[2], words[3:]) if words[0] == "python" else ("heist_envs.cli", words[1:])
    if importlib.util.find_spec(module) is None:
        return [module]
    options = [word for word in rest if word.startswith("--")]
    command = tuple(rest[:1] if words[0] == "heist" else [])
    if not (options or command) or (module.endswith(".rllib") and importlib.util.find_spec("ray") is None):
        return []  # Ray has an environment of its own
    if (module, command) not in known:
        known[module, command] = helped(module, command)
    said = known[module, command]
    return [option for option in options if not re.search(rf"{option}\b(?!-)", said)] if said else [*command]


@pytest.fixture(scope="module")
def known():
    return {}


@pytest.mark.parametrize("path", pages.pages(), ids=lambda path: path.stem)
def test_a_page_that_is_made_is_the_one_that_the_games_give(path):
    assert path.read_text() == pages.pages()[path], f"run {pages.COMMAND}"


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_links_lead_somewhere(path):
    assert list(broken(path, text_of(path))) == []


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_modules_that_a_page_names_exist(path):
    assert [name for name in sorted(set(_MODULE.findall(text_of(path)))) if not exists(name)] == []


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_commands_of_a_page_exist_and_know_their_options(path, known):
    for command in commands(text_of(path)):
        assert refused(command, known) == [], command


def test_a_broken_link_a_missing_command_and_an_unknown_option_are_found():
    page = TOP / "docs" / "ray.md"
    assert list(broken(page, "[a](nowhere.md) [b](results.md) [c](doors.md#doors) [d](doors.md#cellars)")) == [
        "nowhere.md#",
        "doors.md#cellars",
    ]
    names = ("aec", "make", "nothing", "agents.load", "aec.nothing.more", "agents.policy.PolicyAgent.load")
    assert [name for name in names if not exists(f"heist_envs.{name}")] == ["nothing", "aec.nothing.more"]
    text = "`heist record holdup --out x --loud`\n```sh\nheist steal it\n```\n"
    text += "    .venv/bin/python -m heist_envs.nothing --all\n    make tea\nmake of it what you like\n"
    text += "    make demo DEMO='--seed SEED --quick'\n"
    text += "    python -m heist_envs.benchmarks.solve --games GAME \\\n --game GAME  # only one --of them\n"
    assert [refused(words, {}) for words in commands(text)] == [
        ["--loud"],
        ["steal"],
        ["heist_envs.nothing"],
        ["tea"],
        ["--quick"],
        ["--game"],
    ]


@pytest.mark.parametrize("name", GAMES)
def test_the_changelog_names_the_version_of_every_game(name):
    assert [version for version, _ in pages.versions(name)] == list(range(VERSIONS[name] + 1))


@pytest.mark.parametrize("name", GAMES)
def test_every_gap_ruling_and_every_option_stands_once_among_the_assumptions(name):
    text = (TOP / "docs" / "rules" / f"{name}.md").read_text()
    part = pages.assumptions().split(f"## {pages.title(pages.load(name))}\n")[1].split("\n## ")[0]
    assert sorted(re.findall(r"(?m)^\| ([A-Z]{3}-\d+) \|", part)) == sorted(re.findall(r"\*\*([A-Z]{3}-\d+)\*\*", text))
    assert all(f"`{option}`" in part for option in pages.load(name).OPTIONS)


def test_what_an_option_may_be_is_said_in_words():
    assert pages._allowed(Option(2, range(3), "")) == "0 to 2"
    assert pages._allowed(Option(1, range(1, 3), "")) == "1, 2"
    assert pages._allowed(Option(None, range(1, 9), "")) == "`None`, 1 to 8"
    assert pages._allowed(Option(0, ("random", *range(4)), "")) == "`'random'`, 0 to 3"
    assert pages._allowed(Option(True, (True, False), "")) == "`True`, `False`"


def test_every_result_has_its_command():
    text = (TOP / "docs" / "reproduce.md").read_text()
    named = [re.escape(name) for name in re.findall(r"benchmarks/results/([\w.-]+\.\w+)", text)]
    patterns = [name.replace("GAME", f"({'|'.join(GAMES)})").replace("SEED", r"\d+") for name in named]
    assert [path.name for path in sorted(RESULTS.iterdir()) if not any(re.fullmatch(p, path.name) for p in patterns)] == []


def test_links_of_the_repository_become_links_of_the_site():
    hooks = pytest.importorskip("docs.hooks", exc_type=ImportError)

    def moved(here, text):
        return hooks.on_page_markdown(text, SimpleNamespace(file=SimpleNamespace(src_uri=here)), None, None)

    assert moved("index.md", "[a](docs/rules/holdup.md#x) [b](CHANGELOG.md)") == "[a](rules/holdup.md#x) [b](changelog.md)"
    assert moved("notebooks/train.md", "[a](../training.md) [b](bluffing.ipynb)") == "[a](../training.md) [b](bluffing.md)"
    assert moved("games/holdup.md", "[a](../trace.md) [b](../../README.md)") == "[a](../trace.md) [b](../index.md)"
    assert (
        moved("add-a-game.md", "[`k`](../tests/kuhn.py) [z](https://x.org/y) [e](#end)")
        == "`k` [z](https://x.org/y) [e](#end)"
    )


def test_a_page_that_would_fetch_from_elsewhere_fails_the_build():
    hooks = pytest.importorskip("docs.hooks", exc_type=ImportError)
    page = SimpleNamespace(file=SimpleNamespace(src_uri="index.md"))
    kept = '<a href="https://x.org">x</a><script src="assets/a.js"></script>'
    assert hooks.on_post_page(kept, page, None) == kept
    for fetched in (
        '<link href="https://x.org/f.css">',
        "<script defer src=//x.org/a.js></script>",
        '<img src="http://x.org/p">',
    ):
        with pytest.raises(hooks.PluginError, match=r"x\.org"):
            hooks.on_post_page(fetched, page, None)
