"""From a data set to a new folder in one of the formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ghostblitz_analysis.export.archives import check_archive_free, unpack_export, zip_export
from ghostblitz_analysis.export.bids.checks import check_bids
from ghostblitz_analysis.export.bids.writing import BIDS_LAYOUT, write_bids
from ghostblitz_analysis.export.folders import (
    check_apart,
    files_below,
    new_folder,
    temporary_folder,
    write_text,
)
from ghostblitz_analysis.export.formats.frictionless_package import write_frictionless
from ghostblitz_analysis.export.formats.parquet_store import StoreUpdate, write_parquet
from ghostblitz_analysis.export.formats.plain_tables import write_csv
from ghostblitz_analysis.export.formats.psych_ds import write_psych_ds
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.manifest import MANIFEST_FILE, verify_folder, write_manifest
from ghostblitz_analysis.export.reading import format_of
from ghostblitz_analysis.export.sharing.codes import key_only_with_export
from ghostblitz_analysis.export.sharing.copies import SharingReport, shared_copy, sharing_lines
from ghostblitz_analysis.export.sharing.identity_scan import forbidden_in, scan_export
from ghostblitz_analysis.export.sharing.refusals import refuse_leaks
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
    "NotPackedError",
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


class NotPackedError(DatasetError):
    """An export is whole, but its archive could not be written.

    Attributes
    ----------
    result : ExportResult
        What was written before, without an archive.
    """

    def __init__(self, message: str, result: ExportResult) -> None:
        super().__init__(message)
        self.result = result


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
        If the data set cannot be read; if `out` is in it or holds it, is there already or cannot
        be written; or if what identifies people is left in a shared export.
    NotPackedError
        If the export is whole, but cannot be packed.
    """
    if format_name not in WRITERS:
        raise ConfigError(f"there is no format {format_name!r}; there are {', '.join(WRITERS)}")
    check_apart(out, path)
    if zipped:
        check_archive_free(out)
    if share:
        result = _export_shared(path, out, format_name, key)
    else:
        result = ExportResult(out, _write(load_source(path), out, format_name))
    return _packed(result) if zipped else result


def _export_shared(path: Path, out: Path, format_name: str, key: Path | None) -> ExportResult:
    source = load_source(path)
    key = key or source.path.resolve().with_name(f"{source.path.resolve().name}-share-key.csv")
    with temporary_folder() as folder, key_only_with_export(key, export=out):
        copy = folder / source.study_id
        report = shared_copy(source.path, copy, key_file=key, outside=(out,))
        forbidden = forbidden_in(source)

        def finish(written: Path) -> None:
            documents = (BIDS_LAYOUT if format_name == "bids" else Layout()).documents
            write_text(written, f"{documents}/{_SHARING_FILE}", report.to_text())
            refuse_leaks(scan_export(written, forbidden=forbidden))

        n_files = _write(load_source(copy), out, format_name, finish)
    return ExportResult(out, n_files, key=key, sharing=report)


def _packed(result: ExportResult) -> ExportResult:
    try:
        return replace(result, archive=zip_export(result.out))
    except DatasetError as error:
        raise NotPackedError(
            f"{error}; the folder {result.out} is whole and stays: make room and pack it with any "
            "zip program, or delete it and export again",
            result,
        ) from error


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


def export_text(result: ExportResult) -> str:
    """Say what was written."""
    lines = [f"{result.n_files} files: {result.out}"]
    if result.archive:
        lines.append(f"Packed: {result.archive}")
    if result.key and result.sharing:
        lines += sharing_lines(result.sharing, result.key)
    return "\n".join(lines)


def store_text(update: StoreUpdate) -> str:
    """Say what was added to a store."""
    return f"{update.n_added} runs added, {update.n_known} known already: {update.store}"


def verify_export(path: Path) -> tuple[str, ...]:
    """Look an export over.

    Parameters
    ----------
    path : Path
        Its folder, or the zip file that it was packed in, which is unpacked into a temporary
        folder, with the care of `unpack_export`.

    Returns
    -------
    tuple of str
        A line for each file that is not as the manifest has it, and for what BIDS tables say that
        cannot be (see `check_bids`); empty where all is well.

    Raises
    ------
    DatasetError
        If it is no export, or cannot be read; or if an archive is not safe to unpack.
    """
    if not path.is_file():
        return _verified(path)
    with temporary_folder() as temporary:
        folder = unpack_export(path, temporary / "export")
        if not (folder / MANIFEST_FILE).is_file():
            raise DatasetError(f"{path} holds no {MANIFEST_FILE}, so it is no export to verify")
        return _verified(folder)


def _verified(folder: Path) -> tuple[str, ...]:
    differences = verify_folder(folder)
    if differences:
        return tuple(f"{each.kind}: {each.file}" for each in differences)
    if format_of(folder) != "bids":
        return ()
    return tuple(f"{each.code}: {each.where}: {each.message}" for each in check_bids(folder))


def verify_text(path: Path, found: Sequence[str]) -> str:
    """Say what `verify_export` found."""
    return "\n".join(found) if found else f"Every file is as it was written: {path}"
