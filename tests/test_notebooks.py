"""The notebooks run from top to bottom, on what is installed alone, and are committed as they were played."""

import getpass
import re
import socket

import pytest

pytest.importorskip("nbclient")

import nbformat

from docs import jupyter

every_notebook = pytest.mark.parametrize("path", jupyter.paths(), ids=lambda path: path.stem)
SIZE = 1_500_000
"""Bytes of all notebooks together, at most."""


def code_of(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def faults(notebook):
    """What must not be committed: cells that were not played, what went wrong, and what belongs to one machine."""
    for number, cell in enumerate(code_of(notebook), 1):
        if cell.execution_count != number:
            yield f"cell {number} was not played from top to bottom"
        for output in cell.outputs:
            if output.output_type == "error" or output.get("name") == "stderr":
                yield f"cell {number} complains"
            words = {kind: said for kind, said in output.get("data", output).items() if kind != "image/png"}
            yield from (f"cell {number} shows {found[0]}" for found in OWN.finditer(str(words)))


OWN = re.compile(
    "|".join(
        [
            r"(?<![\w.:/<])/(?:[\w.-]+/)+[\w.-]+",  # an absolute path
            r"\b0x[0-9a-f]{6,}\b",
            *(rf"\b{re.escape(name)}\b" for name in (socket.gethostname(), getpass.getuser())),
        ]
    )
)


@pytest.mark.filterwarnings("ignore")  # Jupyter's own
@every_notebook
def test_a_notebook_plays_from_top_to_bottom(path):
    played = jupyter.played(path, DECISIONS=20_000)
    assert list(faults(played)) == []
    assert len(code_of(played)) in {len(code_of(nbformat.read(path, 4))) + k for k in (0, 1)}


@every_notebook
def test_a_notebook_is_committed_as_it_was_played(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert list(faults(notebook)) == []
    assert any(cell.outputs for cell in code_of(notebook))
    assert jupyter.clean(notebook) == path.read_text(), "run make notebooks"


def test_the_notebooks_are_small():
    assert 0 < sum(path.stat().st_size for path in jupyter.paths()) < SIZE
