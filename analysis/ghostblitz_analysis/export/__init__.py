"""Data sets for journals, repositories and strangers."""

from ghostblitz_analysis.export.formats.parquet_store import StoreUpdate, read_store, update_store
from ghostblitz_analysis.export.importing_back import import_export, is_export
from ghostblitz_analysis.export.manifest import Difference, verify_folder
from ghostblitz_analysis.export.publication import Publication
from ghostblitz_analysis.export.reading import read_export
from ghostblitz_analysis.export.review import review_export, review_text
from ghostblitz_analysis.export.run import (
    WRITERS,
    ExportResult,
    NotPackedError,
    export_dataset,
    export_text,
    store_text,
    verify_export,
    verify_text,
)
from ghostblitz_analysis.export.source import ExportSource, ExportTable, load_source

__all__ = [
    "WRITERS",
    "Difference",
    "ExportResult",
    "ExportSource",
    "ExportTable",
    "NotPackedError",
    "Publication",
    "StoreUpdate",
    "export_dataset",
    "export_text",
    "import_export",
    "is_export",
    "load_source",
    "read_export",
    "read_store",
    "review_export",
    "review_text",
    "store_text",
    "update_store",
    "verify_export",
    "verify_folder",
    "verify_text",
]
