"""Files for a manuscript: tables for LaTeX and Word, and a Quarto source that rebuilds a report."""

from __future__ import annotations

from ghostblitz_analysis.paper.contents import manuscript_tables
from ghostblitz_analysis.paper.files import write_paper_files
from ghostblitz_analysis.paper.latex import latex_document, latex_escape, latex_table
from ghostblitz_analysis.paper.manuscript_table import ManuscriptTable
from ghostblitz_analysis.paper.markdown import markdown_escape, markdown_table
from ghostblitz_analysis.paper.quarto import dataset_parameter, quarto_source
from ghostblitz_analysis.paper.word import word_document

__all__ = [
    "ManuscriptTable",
    "dataset_parameter",
    "latex_document",
    "latex_escape",
    "latex_table",
    "manuscript_tables",
    "markdown_escape",
    "markdown_table",
    "quarto_source",
    "word_document",
    "write_paper_files",
]
