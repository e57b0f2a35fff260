"""The notebooks of docs/notebooks: played from top to bottom, and as pages of the site.

    python -m docs.jupyter            # all of them
    python -m docs.jupyter train      # one

A notebook is committed with its outputs, which are those of the present code; `tests/test_notebooks.py` plays it again. It
is played in a folder of its own, so that it stands on what is installed and leaves nothing behind.
"""

import html
import os
import pathlib
import re
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
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": folder}},
        )
        client.execute(env=os.environ | QUIET)
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        if len(output.get("data", {})) > 1:
            output.data.pop("text/plain", None)  # what is shown needs no name, in which there may be an address
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
    """A notebook as a page of Markdown."""
    return page_of(nbformat.read(path, as_version=4))


def page_of(notebook: Any) -> str:
    """A notebook's text, code and outputs as Markdown; a picture is called by the heading that it stands under."""
    parts, heading = [], ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            heading = [heading, *re.findall(r"(?m)^#+ (.+)$", cell.source)][-1]
        else:
            parts.append(f"```python\n{cell.source}\n```")
            parts += [_shown(output, heading) for output in cell.outputs]
    return "\n\n".join(parts) + "\n"


def _shown(output: Any, heading: str) -> str:
    """An output as a picture, as HTML, or else in words."""
    data = output.get("data", {})
    if "image/png" in data:
        shown = f'<img alt="{html.escape(heading)}" src="data:image/png;base64,{data["image/png"].strip()}">'
    elif "image/svg+xml" in data or "text/html" in data:
        shown = data.get("image/svg+xml") or data["text/html"]
    else:
        shown = f"<pre>{html.escape((output.get('text') or data['text/plain']).rstrip())}</pre>"
    return f'<div class="output">\n{shown.strip()}\n</div>'


def main(names: list[str]) -> None:
    """Play notebooks, all of them where none is named, and write them in place."""
    for path in [FOLDER / f"{name}.ipynb" for name in names] or paths():
        print(path.stem, flush=True)
        path.write_text(clean(played(path)))


if __name__ == "__main__":
    main(sys.argv[1:])
