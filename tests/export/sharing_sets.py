"""Small data sets of each kind, and what is looked for in their de-identified copies."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from marked_sessions import KeptOutput, give_outputs
from small_study import make_screens, make_settings

from ghostblitz_analysis.export.sharing.codes import read_key
from ghostblitz_analysis.export.sharing.copies import SharingReport, shared_copy
from ghostblitz_analysis.export.source import load_source
from ghostblitz_analysis.importing import import_table
from ghostblitz_analysis.log_tables import RunInfo
from ghostblitz_analysis.run_checks import check_runs
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.studies import (
    Study,
    log_session,
    new_identity,
    open_study,
    resume_identity,
    simulate_study,
)
from ghostblitz_task.trial_log import read_log

ROOT = Path(__file__).resolve().parents[2]
SECOND_KEYS = {"ghost": "y", "chair": "u", "bottle": "i", "book": "o", "mouse": "l"}
#: Hard to tell from other words, to write, or to find in a sentence.
HARD_IDS = ("01", "1", "NA", "n a", "=1+1", "Zoë", "a", "was right", "card", "x" * 64)


def small(game: str = "classic", **overrides: Any) -> Study:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    settings = make_settings(game, dotted)
    return Study(Path(), settings, settings.make_game(), make_screens(settings))


def for_two() -> Study:
    return small(company={}, responses__more_players=[{"grab_keys": SECOND_KEYS}])


class Stream(KeptOutput):
    """An output for markers that says what an LSL stream says."""

    def describe(self) -> dict[str, Any]:
        return {"stream": "LAB-PC-7", "source_id": "ghostblitz/small/Quigley/1"}


def run_session(
    study: Study,
    folder: Path,
    who: str,
    *,
    others: tuple[str, ...] = (),
    session: int = 1,
    stop_after: int | None = None,
    resumes: Path | None = None,
    markers: bool = False,
    prepare: Callable[[Any], Any] = lambda _apparatus: None,
) -> Path:
    """Log a simulated session of somebody, which may stop after some trials."""
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    if resumes is not None:
        identity = resume_identity(study, read_log(resumes))
    else:
        identity = new_identity(
            logs, who, session=session, seed=7, source="simulated", participant_model="ex-gaussian",
            others=others,
        )  # fmt: skip
    done: list[int] = []
    apparatus = study.simulated_apparatus("ex-gaussian", 11 + identity.run)
    prepare(apparatus)
    if markers:
        give_outputs(apparatus, Stream(name="lsl", fails_at=lambda number: number == 3))
    path, _ = log_session(
        study,
        logs,
        identity,
        open_apparatus=lambda: apparatus,
        apparatus_settings=ApparatusSettings(),
        stop_requested=lambda: "SIGTERM" if stop_after and len(done) >= stop_after else None,
        on_trial=lambda n, _planned: done.append(n),
    )
    return path


def edit_header(path: Path, **changes: Any) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    header = json.loads(lines[0]) | changes
    path.write_text(json.dumps(header) + "\n" + "".join(lines[1:]), encoding="utf-8")


def as_human(path: Path, started: str, **changes: Any) -> None:
    """Make a log one of a person at a screen."""
    apparatus = read_log(path).header["apparatus"] | {
        "apparatus": "psychopy",
        "platform": "Linux-6.1.0-lab-custom-x86_64-with-glibc2.36",
        "display_reason": "read from /home/quigley/display.txt",
    }
    edit_header(
        path, source="human", participant_model=None, started_utc=started, apparatus=apparatus,
        **changes,
    )  # fmt: skip


def resumed(folder: Path) -> Path:
    for who in HARD_IDS:
        first = run_session(small(), folder, who, stop_after=9)
        run_session(small(), folder, who, resumes=first)
    return folder


def two_players(folder: Path) -> Path:
    for one, other in zip(HARD_IDS[::2], HARD_IDS[1::2], strict=True):
        first = run_session(for_two(), folder, one, others=(other,), stop_after=8)
        run_session(for_two(), folder, one, resumes=first)
        run_session(for_two(), folder, other, others=(one,), session=2)
    return folder


def ghosts(folder: Path) -> Path:
    alone = small(blocks=[{"label": "one", "n_trials": 40}])
    haunted = small(blocks=[{"label": "one", "n_trials": 40}], company={"rival": {"kind": "ghost"}})
    for who in HARD_IDS[:3]:
        run_session(alone, folder, who)
        run_session(haunted, folder, who, session=2)
    return folder


def marked(folder: Path) -> Path:
    run_session(small(), folder, "Quigley", markers=True)
    return folder


def captain(folder: Path) -> Path:
    study = open_study(ROOT / "experiments" / "captain-static")
    simulate_study(study, folder, n_participants=2, seed=1)
    return folder


MAPPING = """\
# Written by Q. Quigley, q.quigley@uni-example.org
[dataset]
name = "brought"

[columns]
participant = "who"
items = "objects"
item_colours = "colours"
card = "card"
response = "response"
rt = "rt"
rt_unit = "s"

[factors]
group = "group"
name = "name"
age = "age"
seen = "seen"

[[filters]]
column = "who"
equals = "Quigley"
reason = "Quigley withdrew"
"""


def imported(folder: Path) -> Path:
    mapping = MAPPING.replace('items = "objects"\nitem_colours = "colours"\n', "")
    beside = folder.parent
    (beside / "mapping.toml").write_text(mapping, encoding="utf-8")
    rows = ["who,card,response,rt,group,name,age,seen"]
    people = ["Zora", "NA", "1", "Quigley", "007"]
    for number, who in enumerate(people):
        for trial in range(4):
            card = ("ghost:white mouse:red", "ghost:green chair:blue")[trial % 2]
            answer = ("ghost", "mouse")[trial % 2]
            name, age = f"Name{number}", (19, 23, 24, 67, 93)[number]
            rows.append(
                f"{who},{card},{answer},{0.5 + trial / 10},{'aabbb'[number]},{name},{age},"
                f"2025-03-{number + 1:02d}"
            )
    (beside / "table.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    import_table(beside / "table.csv", mapping=beside / "mapping.toml", out=folder)
    return folder


def human(tmp_path: Path) -> Path:
    """Three people: two who played together on 4 and 14 March, and one of 9 March, twice."""
    folder = tmp_path / "data"
    together = run_session(for_two(), folder, "Anna", others=("Bert",))
    again = run_session(for_two(), folder, "Bert", others=("Anna",), session=2)
    as_human(together, "2025-03-04T23:50:11.123456+00:00")
    as_human(again, "2025-03-15T00:30:00+01:00")
    alone = run_session(small(), folder, "Carl")
    as_human(alone, "2025-03-09T08:00:00+00:00")
    later = run_session(small(), folder, "Carl", session=2)
    as_human(later, "2025-03-09T17:45:00Z")
    return folder


KINDS: Mapping[str, Callable[[Path], Path]] = {
    "resumed": resumed,
    "two_players": two_players,
    "ghosts": ghosts,
    "marked": marked,
    "captain": captain,
    "imported": imported,
}


def share(folder: Path, **settings: Any) -> tuple[Path, dict[str, str], SharingReport]:
    """Copy a data set, and return the copy with its key and the report."""
    copy, key = folder.parent / "copy", folder.parent / "key.csv"
    report = shared_copy(folder, copy, key_file=key, **settings)
    return copy, read_key(key), report


def tables(folder: Path) -> list[pd.DataFrame]:
    source = load_source(folder)
    return [source.main.frame, *(table.frame for table in source.others)]


def coded(frame: pd.DataFrame, codes: Mapping[str, str]) -> pd.DataFrame:
    """The table as it should come back: with codes, in their order, no factors."""
    names = [n for n in ("participant_id", "player_id") if n in frame]
    frame = frame.assign(**{n: frame[n].map(codes).astype("string") for n in names})
    return frame.sort_values(names[:1], kind="stable", ignore_index=True)


def findings(runs: tuple[RunInfo, ...]) -> Counter[tuple[str, str]]:
    return Counter((severity, code) for severity, code, _where, _message in check_runs(runs))


def texts_below(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        yield name, name + "\n" + path.read_text(encoding="utf-8")
