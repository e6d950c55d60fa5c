"""From a data set to a new folder in one of the formats."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ghostblitz_analysis.export.archives import check_archive_free, zip_export
from ghostblitz_analysis.export.bids.checks import check_bids
from ghostblitz_analysis.export.bids.writing import BIDS_LAYOUT, write_bids
from ghostblitz_analysis.export.folders import files_below, new_folder, write_text
from ghostblitz_analysis.export.formats.frictionless_package import write_frictionless
from ghostblitz_analysis.export.formats.parquet_store import StoreUpdate, write_parquet
from ghostblitz_analysis.export.formats.plain_tables import write_csv
from ghostblitz_analysis.export.formats.psych_ds import write_psych_ds
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.manifest import verify_folder, write_manifest
from ghostblitz_analysis.export.reading import format_of
from ghostblitz_analysis.export.sharing.copies import SharingReport, shared_copy
from ghostblitz_analysis.export.sharing.identity_scan import Leak, forbidden_in, scan_export
from ghostblitz_analysis.export.source import ExportSource, load_source
from ghostblitz_analysis.export.tools.diffusion_tables import write_hddm, write_hssm, write_pyddm
from ghostblitz_analysis.export.tools.excel_tables import write_excel, write_excel_de
from ghostblitz_analysis.export.tools.jasp_tables import write_jasp
from ghostblitz_analysis.export.tools.r_tables import write_r
from ghostblitz_analysis.export.tools.spss_tables import write_spss
from ghostblitz_task.errors import ConfigError, DatasetError

__all__ = [
    "WRITERS",
    "ExportResult",
    "export_dataset",
    "export_text",
    "store_text",
    "verify_export",
    "verify_text",
]

Writer = Callable[[ExportSource, Path], None]

#: What writes each format into an empty folder: those that come back as they were, then those of
#: other programs.
WRITERS: Mapping[str, Writer] = {
    "bids": write_bids,
    "psych-ds": write_psych_ds,
    "frictionless": write_frictionless,
    "csv": write_csv,
    "parquet": write_parquet,
    "hssm": write_hssm,
    "hddm": write_hddm,
    "pyddm": write_pyddm,
    "r": write_r,
    "jasp": write_jasp,
    "spss": write_spss,
    "excel": write_excel,
    "excel-de": write_excel_de,
}

#: What `--share` says it did, among the documents.
_SHARING_FILE = "de-identification.md"
_MOST_LEAKS = 5


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What was written.

    Attributes
    ----------
    out : Path
        The folder.
    n_files : int
    archive : Path or None
        The packed folder.
    key : Path or None
        Whose each code is; not in the folder.
    sharing : SharingReport or None
        What was done to the data before.
    """

    out: Path
    n_files: int
    archive: Path | None = None
    key: Path | None = None
    sharing: SharingReport | None = None


def export_dataset(
    path: Path,
    *,
    out: Path,
    format_name: str,
    share: bool = False,
    key: Path | None = None,
    zipped: bool = False,
) -> ExportResult:
    """Export a data set.

    Parameters
    ----------
    path : Path
        The data set's folder.
    out : Path
        A folder that is not there yet.
    format_name : str
        One of `WRITERS`.
    share : bool
        Whether it is de-identified first. What is then written is searched for what identifies
        people, and does not get its name where anything is found.
    key : Path, optional
        The key of the codes; by default beside the data set.
    zipped : bool
        Whether it is packed, too, beside `out`.

    Raises
    ------
    ConfigError
        If there is no such format, or the settings of the data set are not valid.
    DatasetError, LogError
        If the data set cannot be read, something is there already or cannot be written, or what
        identifies people is left in a shared export.
    """
    if format_name not in WRITERS:
        raise ConfigError(f"there is no format {format_name!r}; there are {', '.join(WRITERS)}")
    if zipped:
        check_archive_free(out)
    if not share:
        n_files = _write(load_source(path), out, format_name)
        return ExportResult(out, n_files, zip_export(out) if zipped else None)
    source = load_source(path)
    key = key or path.resolve().with_name(f"{path.resolve().name}-share-key.csv")
    with tempfile.TemporaryDirectory(prefix="ghostblitz-") as folder:
        copy = Path(folder) / source.study_id
        report = shared_copy(path, copy, key_file=key, outside=(out,))
        forbidden = forbidden_in(source)

        def finish(written: Path) -> None:
            documents = (BIDS_LAYOUT if format_name == "bids" else Layout()).documents
            write_text(written, f"{documents}/{_SHARING_FILE}", report.to_text())
            _refuse_leaks(scan_export(written, forbidden=forbidden))

        n_files = _write(load_source(copy), out, format_name, finish)
    return ExportResult(out, n_files, zip_export(out) if zipped else None, key, report)


def _write(
    source: ExportSource,
    out: Path,
    format_name: str,
    finish: Callable[[Path], None] = lambda _folder: None,
) -> int:
    with new_folder(out) as folder:
        WRITERS[format_name](source, folder)
        finish(folder)
        write_manifest(folder)
        return len(files_below(folder))


def _refuse_leaks(leaks: Sequence[Leak]) -> None:
    if not leaks:
        return
    told = [
        f"{leak.file}{'' if leak.line is None else f', line {leak.line}'} ({leak.kind})"
        for leak in leaks[:_MOST_LEAKS]
    ]
    more = len(leaks) - len(told)
    raise DatasetError(
        f"what identifies people is left, so nothing was exported: {'; '.join(told)}"
        + (f"; and {more} more" if more else "")
    )


def export_text(result: ExportResult) -> str:
    """Say what was written."""
    lines = [f"{result.n_files} files: {result.out}"]
    if result.archive:
        lines.append(f"Packed: {result.archive}")
    if result.key and result.sharing:
        lines += [
            f"{result.sharing.n_participants} ids were replaced by random codes. Whose each code "
            f"is stands in {result.key}, which only you can read: keep it apart.",
        ]
    return "\n".join(lines)


def store_text(update: StoreUpdate) -> str:
    """Say what was added to a store."""
    return f"{update.n_added} runs added, {update.n_known} known already: {update.store}"


def verify_export(folder: Path) -> tuple[str, ...]:
    """Look an export over.

    Returns
    -------
    tuple of str
        A line for each file that is not as the manifest has it, and for what BIDS tables say that
        cannot be (see `check_bids`); empty where all is well.

    Raises
    ------
    DatasetError
        If it is no export, or cannot be read.
    """
    differences = verify_folder(folder)
    if differences:
        return tuple(f"{each.kind}: {each.file}" for each in differences)
    if format_of(folder) != "bids":
        return ()
    return tuple(f"{each.code}: {each.where}: {each.message}" for each in check_bids(folder))


def verify_text(folder: Path, found: Sequence[str]) -> str:
    """Say what `verify_export` found."""
    return "\n".join(found) if found else f"Every file is as it was written: {folder}"
