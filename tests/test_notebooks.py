"""The notebooks run from top to bottom, on what is installed alone, and are committed as they were played."""

import getpass
import re
import socket

import nbformat
import pytest

from docs import jupyter

every_notebook = pytest.mark.parametrize("path", jupyter.paths(), ids=lambda path: path.stem)
SIZE = 1_500_000
"""Bytes of all notebooks together, at most."""

OWN = [r"(?<![\w.:/<])/(?:[\w.-]+/)+[\w.-]+", r"\b0x[0-9a-f]{6,}\b"]
"""Absolute paths and addresses; and the names of this machine and its user."""
OWN += [rf"\b{re.escape(name)}\b" for name in (socket.gethostname(), getpass.getuser())]


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
            shown = {kind: said for kind, said in output.get("data", output).items() if kind != "image/png"}
            yield from (f"cell {number} shows {found}" for found in re.findall("|".join(OWN), str(shown)))


@pytest.mark.filterwarnings("ignore")  # Jupyter's own
@every_notebook
def test_a_notebook_plays_from_top_to_bottom(path):
    played = jupyter.played(path, DECISIONS=8_000)
    assert list(faults(played)) == []
    has_parameters = any("parameters" in cell.metadata.get("tags", []) for cell in played.cells)
    assert len(code_of(played)) == len(code_of(nbformat.read(path, as_version=4))) + has_parameters


@every_notebook
def test_a_notebook_is_committed_as_it_was_played(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert list(faults(notebook)) == []
    assert any(cell.outputs for cell in code_of(notebook))
    assert jupyter.clean(notebook) == path.read_text(), "run make notebooks"


def test_the_notebooks_are_small():
    assert 0 < sum(path.stat().st_size for path in jupyter.paths()) < SIZE


def test_what_must_not_be_committed_is_found():
    v4 = nbformat.v4
    shown = ["/srv/games/heist", "<object at 0x7f0123456789>", socket.gethostname(), "a/b, http://x.org/y/z, 1/2/3"]
    outputs = [v4.new_output("stream", text=text) for text in shown]
    outputs += [v4.new_output("stream", name="stderr", text="a warning"), v4.new_output("error")]
    found = list(faults(v4.new_notebook(cells=[v4.new_code_cell(outputs=outputs)])))
    assert found == [
        "cell 1 was not played from top to bottom",
        "cell 1 shows /srv/games/heist",
        "cell 1 shows 0x7f0123456789",
        f"cell 1 shows {socket.gethostname()}",
        *["cell 1 complains"] * 2,
    ]


def test_a_page_has_the_cells_and_what_they_show():
    v4 = nbformat.v4
    cells = [
        v4.new_markdown_cell("# A title\n\nwords\n\n## <More>"),
        v4.new_code_cell("1 < 2", outputs=[v4.new_output("execute_result", {"text/plain": "1 < 2\n"})]),
        v4.new_code_cell("plot()", outputs=[v4.new_output("display_data", {"image/png": "iVBO\n"})]),
        v4.new_code_cell("env", outputs=[v4.new_output("execute_result", {"text/html": "<svg></svg>\n"})]),
    ]
    assert jupyter.page_of(v4.new_notebook(cells=cells)).split("\n\n") == [
        "# A title",
        "words",
        "## <More>",
        "```python\n1 < 2\n```",
        '<div class="output">\n<pre>1 &lt; 2</pre>\n</div>',
        "```python\nplot()\n```",
        '<div class="output">\n<img alt="&lt;More&gt;" src="data:image/png;base64,iVBO">\n</div>',
        "```python\nenv\n```",
        '<div class="output">\n<svg></svg>\n</div>\n',
    ]
