"""Runs a notebook from top to bottom, and saves it with what it shows: run_notebook.py IN [OUT]."""
import sys

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=300).execute()
for cell in notebook.cells:
    cell.metadata.pop("execution", None)
if len(sys.argv) > 2:
    nbformat.write(notebook, sys.argv[2])
shown = [o for cell in notebook.cells for o in cell.get("outputs", [])]
bars = [o for o in shown if o.output_type == "display_data"]  # which are empty again at the end
interrupted = any(o.get("text", "").strip() == "interrupted" for o in shown)
assert interrupted and bars, (interrupted, bars)
print(f"{len(notebook.cells)} cells, {len(shown)} outputs, {len(bars)} bars of progress")
