"""All that is known of a data set, read once for whichever format it is exported to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import pandas as pd

from ghostblitz_analysis.captain.dataset import holds_captain_logs, load_captain_dataset
from ghostblitz_analysis.dataset import LOG_SUFFIX, LOGS_FOLDER, Dataset, RunInfo, load_dataset
from ghostblitz_analysis.export.publication import (
    PUBLICATION_FILE,
    Publication,
    load_publication,
)
from ghostblitz_analysis.imported_tables import INFO_FILE, TABLE_FILE
from ghostblitz_analysis.settings import ANALYSIS_FILE
from ghostblitz_task.captain.columns import GAME_COLUMNS, TURN_COLUMNS
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import COLUMNS, FACTOR_PREFIX, Column, DType

__all__ = ["ExportSource", "ExportTable", "load_source"]

STUDY_FILE, MAPPING_FILE, TIMING_FOLDER = "study.toml", "mapping.toml", "timing"


@dataclass(frozen=True, eq=False)
class ExportTable:
    """A table with the meaning of its columns.

    Attributes
    ----------
    name : str
        ``trials``; with the captain's deck ``turns`` or ``games``.
    frame : DataFrame
        Nullable types; exactly the columns below, in order.
    columns : tuple of Column
        What each means.
    """

    name: str
    frame: pd.DataFrame
    columns: tuple[Column, ...]


@dataclass(frozen=True, eq=False)
class ExportSource:
    """A data set, ready to be written in any format.

    Attributes
    ----------
    path : Path
        The data set's folder.
    name : str
        What to call it.
    study_id : str
    main : ExportTable
        A row per participant and trial, or per turn.
    others : tuple of ExportTable
        Further tables: the captain's games.
    runs : tuple of RunInfo
        One per log; none for imported data.
    sources : tuple of str
        Who answered: human, imported, robot, simulated.
    dataset : Dataset or None
        As loaded; None for the captain's deck.
    publication : Publication
        What the data set says of itself.
    files : mapping of str to Path
        The data set's own files by their names in it: logs, settings, timing self-tests, imported
        table; all plain files.
    """

    path: Path
    name: str
    study_id: str
    main: ExportTable
    others: tuple[ExportTable, ...]
    runs: tuple[RunInfo, ...]
    sources: tuple[str, ...]
    dataset: Dataset | None
    publication: Publication
    files: Mapping[str, Path]

    @property
    def title(self) -> str:
        """The stated title, or the data set's name."""
        return self.publication.title or self.name

    @property
    def simulated(self) -> bool:
        """Whether any of the data are no people's: simulated, or a robot's."""
        return not set(self.sources) <= {"human", "imported"}


def load_source(path: Path) -> ExportSource:
    """Load a data set of any game, and list its files.

    Parameters
    ----------
    path : Path
        The folder of a data set, or a symbolic link to one; not one log, which has no settings of
        its own.

    Raises
    ------
    DatasetError, LogError, ConfigError
        From loading; or if it is no folder, or holds symbolic links.
    """
    if not path.is_dir():
        raise DatasetError(f"{path} is no folder; export a whole data set")
    if path.is_symlink():  # That one the user named; those in the folder may be anybody's.
        path = path.resolve()
    files, publication = _files_of(path), load_publication(path)
    if holds_captain_logs(path):
        captain = load_captain_dataset(path)
        _check_ids(captain.turns["participant_id"])
        return ExportSource(
            path=path,
            name=captain.name,
            study_id=str(captain.turns["study_id"].iloc[0]),
            main=ExportTable("turns", captain.turns, TURN_COLUMNS),
            others=(ExportTable("games", captain.games, GAME_COLUMNS),),
            runs=captain.runs,
            sources=captain.sources,
            dataset=None,
            publication=publication,
            files=files,
        )
    dataset = load_dataset(path)
    _check_ids(dataset.trials["participant_id"])
    return ExportSource(
        path=path,
        name=dataset.name,
        study_id=str(dataset.trials["study_id"].iloc[0]),
        main=ExportTable("trials", dataset.trials, _columns_of(dataset.trials)),
        others=(),
        runs=dataset.runs,
        sources=dataset.sources,
        dataset=dataset,
        publication=publication,
        files=files,
    )


def _check_ids(ids: pd.Series) -> None:
    """Refuse ids that would be names of other folders, wherever somebody made names of them."""
    for name in map(str, ids.dropna().unique()):
        if ".." in re.split(r"[/\\]", name):
            raise DatasetError(f"participant id {name!r} leads to another folder; give it another")


def _columns_of(trials: pd.DataFrame) -> tuple[Column, ...]:
    added = [name for name in map(str, trials.columns) if name.startswith(FACTOR_PREFIX)]
    return (*COLUMNS, *(_factor(name, str(trials[name].dtype)) for name in added))


def _factor(name: str, dtype: str) -> Column:
    for known in get_args(DType):
        if dtype == known:
            return Column(
                name,
                known,
                "A factor that the study adds; its documents say what it means",
                "design",
                null_when="the study does not say",
            )
    raise DatasetError(f"column {name} is of type {dtype}, which no export can hold")


def _files_of(path: Path) -> dict[str, Path]:
    """Return a data set's own files; whatever else lies in its folder is not exported."""
    names = [ANALYSIS_FILE, STUDY_FILE, PUBLICATION_FILE, INFO_FILE, TABLE_FILE, MAPPING_FILE]
    found = {name: path / name for name in names if (path / name).exists()}
    for folder in (path, path / LOGS_FOLDER):
        if folder.is_dir():
            logs = sorted(p for p in folder.iterdir() if p.suffix == LOG_SUFFIX)
            found |= {p.relative_to(path).as_posix(): p for p in logs if p.name[0] != "."}
    timing = path / TIMING_FOLDER
    if timing.is_dir():
        records = sorted(p for p in timing.rglob("*") if not p.is_dir())
        found |= {p.relative_to(path).as_posix(): p for p in records if p.name[0] != "."}
    for name, file in found.items():
        if any(p.is_symlink() for p in (file, file.parent)) or not file.is_file():
            raise DatasetError(f"{path} holds {name}, which is no plain file; it is not exported")
    return found
