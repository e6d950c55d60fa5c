"""The files for a manuscript, written into the folder of an analysis."""

from __future__ import annotations

from pathlib import Path

from ghostblitz_analysis.paper.contents import manuscript_tables
from ghostblitz_analysis.paper.latex import latex_document, latex_table
from ghostblitz_analysis.paper.quarto import quarto_source
from ghostblitz_analysis.paper.word import word_document
from ghostblitz_analysis.results import AnalysisResult

__all__ = ["write_paper_files"]


def write_paper_files(result: AnalysisResult, folder: Path) -> None:
    """Write the tables for LaTeX and Word, and the Quarto source.

    The same result gives the same bytes: nothing in the files tells when they were written.

    Parameters
    ----------
    result : AnalysisResult
        What to write.
    folder : Path
        An existing folder: that of the analysis, or the one that will take its place. It gets
        ``tables/latex/<stem>.tex``, ``tables/tables.tex``, ``tables/tables.docx`` and
        ``report.qmd``.

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    tables = manuscript_tables(result)
    latex = folder / "tables" / "latex"
    latex.mkdir(parents=True, exist_ok=True)
    for table in tables:
        _write(latex / f"{table.stem}.tex", latex_table(table))
    _write(folder / "tables" / "tables.tex", latex_document(tables))
    (folder / "tables" / "tables.docx").write_bytes(word_document(tables))
    _write(folder / "report.qmd", quarto_source(result))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
