"""A suite as one self-contained HTML page, with its plots as PNG files and its numbers as JSON.

Needs matplotlib and jinja2. `write_report` does all of it, `draw_tree` draws a draft tree.
"""

from redraft.bench.report.trees import draw_tree
from redraft.bench.report.write import write_report

__all__ = ["draw_tree", "write_report"]
