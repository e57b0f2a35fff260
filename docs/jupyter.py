"""The notebooks of docs/notebooks: played from top to bottom, and as pages of the site.

    python -m docs.jupyter            # all of them
    python -m docs.jupyter train      # one

A notebook is committed with its outputs, which are those of the present code; `tests/test_notebooks.py` plays it again. It
is played in a folder of its own, so that it stands on what is installed and leaves nothing behind.
"""

import os
import pathlib
import sys
import tempfile
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = pathlib.Path(__file__).parent / "notebooks"
QUIET = {"TQDM_DISABLE": "1"}
"""Progress bars are for those who wait; what they leave behind is noise."""


def paths() -> list[pathlib.Path]:
    """Of all notebooks."""
    return sorted(FOLDER.glob("*.ipynb"))


def played(path: pathlib.Path, **parameters: Any) -> Any:
    """A notebook as a fresh kernel leaves it.

    Args:
        path: of the notebook.
        **parameters: set after the cell that is tagged "parameters".

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed.
    """
    notebook = nbformat.read(path, as_version=4)
    tags = [cell.metadata.get("tags", []) for cell in notebook.cells]
    if parameters and ["parameters"] in tags:
        lines = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
        notebook.cells.insert(tags.index(["parameters"]) + 1, nbformat.v4.new_code_cell(lines))
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=None,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        client.execute(env=os.environ | QUIET)
    return notebook


def clean(notebook: Any) -> str:
    """A notebook as it is committed: nothing in it says where, when or how often it was played."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = {name: value for name, value in cell.metadata.items() if name == "tags"}
    return nbformat.writes(notebook) + "\n"


def page(path: pathlib.Path) -> str:
    """A notebook as Markdown, its outputs in it."""
    parts = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            parts.append(f"```python\n{cell.source}\n```")
            parts += [_shown(output) for output in cell.outputs]
    return "\n\n".join(parts) + "\n"


def _shown(output: Any) -> str:
    """An output in its richest form: a picture, HTML, or words."""
    data = output.get("data", {})
    if "image/png" in data:
        shown = f'<img alt="{data["text/plain"]}" src="data:image/png;base64,{data["image/png"].strip()}">'
    elif "image/svg+xml" in data or "text/html" in data:
        shown = data.get("image/svg+xml") or data["text/html"]
    else:
        return f"```text\n{output.get('text') or data['text/plain']}\n```"
    return f'<div class="output">\n{shown}\n</div>'


def main(names: list[str]) -> None:
    """Play notebooks, all of them where none is named, and write them in place."""
    for path in [FOLDER / f"{name}.ipynb" for name in names] or paths():
        print(path.stem, flush=True)
        path.write_text(clean(played(path)))


if __name__ == "__main__":
    main(sys.argv[1:])
