"""What a header says of the display is told with the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.validation import validate_dataset
from ghostblitz_task.errors import DatasetError

NO_VSYNC = {"kind": "no_vsync", "text": "flips do not wait for the screen"}
COMPOSITOR = {"kind": "compositor", "text": "a compositor (mutter) puts the picture together"}


def apparatus(findings: object) -> dict[str, Any]:
    return {
        "apparatus": {
            "apparatus": "psychopy",
            "display_synchronised": True,
            "keys_polled": False,
            "display_findings": findings,
        }
    }


def test_each_finding_on_the_display_is_told_once_with_the_runs_that_have_it(make_log, tmp_path):
    make_log("p01", header=apparatus([NO_VSYNC]))
    make_log("p02", header=apparatus([NO_VSYNC, COMPOSITOR]))
    make_log("p03", header=apparatus([]))
    make_log("p04")
    found = {
        f.code: f
        for f in validate_dataset(load_dataset(tmp_path / "data"))
        if f.code.startswith("display_")
    }
    assert {code: f.message for code, f in found.items()} == {
        "display_no_vsync": NO_VSYNC["text"],
        "display_compositor": COMPOSITOR["text"],
    }
    assert found["display_no_vsync"].where.endswith("and 1 more")
    assert "p02" in found["display_compositor"].where
    assert {f.severity for f in found.values()} == {"warning"}


@pytest.mark.parametrize("findings", ["no_vsync", ["no_vsync"], [{"kind": "no_vsync"}], [{}]])
def test_malformed_findings_are_refused(make_log, tmp_path: Path, findings: object):
    make_log("p01", header=apparatus(findings))
    with pytest.raises(DatasetError, match=r"line 1 \(header\).*(list|table|missing)"):
        load_dataset(tmp_path / "data")
