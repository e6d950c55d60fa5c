"""A Quarto source (Markdown with Python cells) that rebuilds an analysis from its data set."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ghostblitz_analysis.page_templates import page_templates
from ghostblitz_analysis.paper.markdown import markdown_escape
from ghostblitz_analysis.results import AnalysisResult

__all__ = ["dataset_parameter", "quarto_source"]

#: Folders that a path between data set and analysis may climb, and names that it may hold. Longer
#: ones lead through folders of the user, whose names belong into no shared file.
_MAX_CLIMBED, _MAX_NAMED = 2, 2


def dataset_parameter(dataset: Path, out: Path) -> str:
    """Return how the folder of an analysis finds its data set.

    Parameters
    ----------
    dataset, out : Path
        The data set, and the folder of the analysis.

    Returns
    -------
    str
        A relative path with forward slashes. Where the two are far apart it is only the name of
        the data set, so that no folder of this machine is told.

    Examples
    --------
    >>> dataset_parameter(Path("study/data"), Path("study/results"))
    '../data'
    >>> dataset_parameter(Path("/a/study/data"), Path("/another/place/results"))
    'data'
    """
    try:
        relative = Path(os.path.relpath(dataset.resolve(), out.resolve()))
    except ValueError:  # On another drive.
        return dataset.resolve().name
    n_climbed = relative.parts.count(os.pardir)
    if n_climbed > _MAX_CLIMBED or len(relative.parts) - n_climbed > _MAX_NAMED:
        return dataset.resolve().name
    return relative.as_posix()


def quarto_source(result: AnalysisResult) -> str:
    """Return a source from which Quarto makes the main results, tables and figures again.

    Parameters
    ----------
    result : AnalysisResult
        The analysis to rebuild. Its cells load the data set, analyse it with the settings that
        it carries, and say where settings or versions are not those of `result`.

    Returns
    -------
    str
        Markdown with a YAML header. The path of the data set is a parameter (a cell tagged
        ``parameters``), to be changed there, or where papermill is installed by ``quarto render
        report.qmd -P dataset:PATH``.
    """
    name = result.dataset.name
    return (
        page_templates()
        .overlay(autoescape=False)
        .get_template("report.qmd.j2")
        .render(
            # JSON is YAML too; Quarto reads titles as Markdown.
            title=json.dumps(f"Analysis of {markdown_escape(name)}", ensure_ascii=False),
            dataset=repr(dataset_parameter(result.dataset.path, result.out)),
            settings_sha256=repr(result.analysis.settings.sha256),
            versions="\n".join(f"    {k!r}: {v!r}," for k, v in result.versions.items()),
            preregistered=markdown_escape(result.provenance.status),
            reason=markdown_escape(result.provenance.reason),
        )
    )
