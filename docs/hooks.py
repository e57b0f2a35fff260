"""What MkDocs does beside the pages of docs: it takes in those of the top of the repository, notebooks, and the modules.

Links are written as they work in the repository. On the site those to a page lead to that page, and what is no page, a
source file, is named without a link. A page that would fetch anything from elsewhere when it is read fails the build.
"""

import pathlib
import posixpath
import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs import jupyter

TOP = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""A page at the top of the repository -> where it stands on the site."""

FOLDERS = ("heist_envs", "heist_envs/games", "agents", "agents/parts", "agents/rule_based", "training", "benchmarks")
"""Where modules are; the last ones are inside the package where it is installed."""

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?![a-z]+:|#)([^)#\s]*)(#[^)\s]*)?\)")
_FETCHED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"']?((?:https?:)?//[^\"'\s>]+)")


def modules(folder: str) -> list[str]:
    """The modules in one of `FOLDERS`, by their full names, the package itself first."""
    package = ("" if folder.startswith("heist_envs") else "heist_envs.") + folder.replace("/", ".")
    names = sorted(path.stem for path in pathlib.Path(folder).glob("*.py") if path.stem != "__init__")
    return [package, *(f"{package}.{name}" for name in names)]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the reference into the navigation, before its last part."""
    parts = []
    for package, *inside in map(modules, FOLDERS):
        names = {package: package} | {name.rpartition(".")[2]: name for name in inside}
        parts.append({package: [{short: f"reference/{name}.md"} for short, name in names.items()]})
    assert config.nav is not None
    config.nav.insert(-1, {"Reference": parts})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the top, the notebooks and the reference."""
    for name, there in TOP.items():
        files.append(File.generated(config, there, abs_src_path=name))
    for path in jupyter.paths():
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=jupyter.page(path)))
    for name in (name for folder in FOLDERS for name in modules(folder)):
        files.append(File.generated(config, f"reference/{name}.md", content=f"# {name}\n\n::: {name}\n"))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Bring the links of a page from the repository's folders to the site's."""
    top = {there: name for name, there in TOP.items()}
    here = page.file.src_uri
    source = top.get(here, f"docs/{here}")  # where the page stands in the repository

    def moved(match: re.Match[str]) -> str:
        words, link, anchor = match.groups()
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
        there = TOP.get(target, target.removeprefix("docs/"))
        if there == target:
            return words
        there = re.sub(r"\.ipynb$", ".md", there)
        return f"[{words}]({posixpath.relpath(there, posixpath.dirname(here) or '.')}{anchor or ''})"

    return _LINK.sub(moved, markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Refuse a page that needs the network.

    Raises:
        PluginError: it fetches a script, a style, a picture or a frame from elsewhere.
    """
    fetched = _FETCHED.findall(output)
    if fetched:
        raise PluginError(f"{page.file.src_uri} fetches {', '.join(fetched)}")
    return output
