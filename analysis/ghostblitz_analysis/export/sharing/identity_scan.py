"""The search of an export for what still tells who somebody is.

What counts as a participant's id in a text:

- An id that is distinctive counts wherever it stands by itself, in any case of its letters, in the
  name of a file, too. Distinctive are ids of four characters or more that are no word of this
  program, of the data set's settings or of `publication.toml`. Ids of digits only are not, unless
  they have nine or more: shorter ones stand among the decimals of any table.
- All others (``1``, ``NA``, ``ghost``) count where ids stand: as whole values of a table's column
  or a key of JSON that holds ids, and after ``sub-``.
"""

from __future__ import annotations

import getpass
import re
import socket
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import tomli_w

import ghostblitz_analysis
import ghostblitz_task
from ghostblitz_analysis.export.folders import files_below
from ghostblitz_analysis.export.publication import PUBLICATION_FILE
from ghostblitz_analysis.export.sharing.copies import participant_ids
from ghostblitz_analysis.export.sharing.readers import Part, column_of, parts_of
from ghostblitz_analysis.export.sharing.telling_texts import dates_in_words, phone_numbers
from ghostblitz_analysis.export.sharing.texts import EMAIL, PERSONAL_PATH, in_utc
from ghostblitz_analysis.export.source import STUDY_FILE, ExportSource
from ghostblitz_analysis.imported_tables import INFO_FILE, read_info
from ghostblitz_analysis.settings import ANALYSIS_FILE
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.settings_files import read_toml
from ghostblitz_task.timing.record import read_record, self_test_files

__all__ = ["Forbidden", "Leak", "forbidden_in", "scan_export"]

_SHORTEST_DISTINCTIVE, _SHORTEST_NUMBER = 4, 9
#: In bytes that were not understood, shorter texts stand by chance.
_SHORTEST_IN_BYTES = 6
_WORD = re.compile(r"[^\W_]+")
_MOMENT = re.compile(r"(?<!\d)(\d{4})-?(\d\d)-?(\d\d)[T _-]?(\d\d)[:.]?(\d\d)")
_SUBJECT = re.compile(
    r"(?:sub-|(?:participant|player)_id=)(.+?)(?=_ses-|_run-|_task-|_beh|_events|_data|[/\\\"'<>\r\n\t]|$)",
    re.M,
)
#: Names of accounts and machines that are nobody's.
_NOBODY = frozenset(
    [
        "root",
        "user",
        "admin",
        "administrator",
        "ubuntu",
        "debian",
        "runner",
        "pi",
        "localhost",
        "localhost.localdomain",
    ]
)
_SOURCE_ENDINGS = (".py", ".toml", ".html", ".md", ".csv", ".svg", ".txt")


@dataclass(frozen=True, slots=True)
class Forbidden:
    """What an export must not hold.

    Attributes
    ----------
    ids : tuple of str
        Of participants, in the original data set.
    names : tuple of str
        Of the user, the machine and the folders of both.
    moments : frozenset of str
        When sessions and self-tests began: year to minute, as twelve digits.
    ordinary : str
        Texts whose words mean nobody: the data set's settings and `publication.toml`.
    public : str
        `publication.toml`, without comments: what it says may stand anywhere.
    allowed_emails : frozenset of str
        The addresses in it, in small letters.
    """

    ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    moments: frozenset[str] = frozenset()
    ordinary: str = ""
    public: str = ""
    allowed_emails: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that was found; not what it is, so that it can be told.

    Attributes
    ----------
    file : str
        With ``/``; after ``!`` what is packed in it.
    kind : str
        ``participant id``, ``name of a user or machine``, ``e-mail address``, ``absolute path``,
        ``date and time``, ``date in words`` or ``telephone number``.
    line : int or None
        Of its first place in a text.
    column : str or None
        Of its first place in a table.
    """

    file: str
    kind: str
    line: int | None = None
    column: str | None = None


def forbidden_in(source: ExportSource) -> Forbidden:
    """Collect what an export of a data set must not hold.

    Parameters
    ----------
    source : ExportSource
        The original data set, with its ids.
    """
    ids = list(participant_ids(source))
    if INFO_FILE in source.files:
        ids += [str(who) for who, _n in read_info(source.path)["report"]["incomplete"]]
    times = [run.started_utc for run in source.runs if run.started_utc]
    for path in self_test_files(source.path):
        try:
            times.append(read_record(path)["started_utc"])
        except DatasetError:
            continue  # It is not exported either.
    # Without comments, which may name anybody; so may a mapping's filters.
    texts = {
        name: tomli_w.dumps(read_toml(source.files[name]))
        for name in (STUDY_FILE, ANALYSIS_FILE, PUBLICATION_FILE)
        if name in source.files
    }
    public = texts.get(PUBLICATION_FILE, "")
    names = [name for name in _names_here(source.path) if not _stands_in(name, public)]
    return Forbidden(
        ids=tuple(dict.fromkeys(ids)),
        names=tuple(names),
        moments=frozenset(digits for text in times for digits in _moments_of(text)),
        ordinary="\n".join(texts.values()),
        public=public,
        allowed_emails=frozenset(found.lower() for found in EMAIL.findall(public)),
    )


def _names_here(dataset: Path) -> list[str]:
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # A container may run without any account.
        user = ""
    host = socket.gethostname()
    home, folder = str(Path.home()), str(dataset.resolve())
    short = [user, host, host.partition(".")[0]]
    names = [name for name in short if name and name.lower() not in _NOBODY]
    # "/" or "/root" stand in texts of all kinds; what is below them is found as a path.
    deep = [path for path in (home, folder) if len(Path(path).parts) > 2]
    return [*dict.fromkeys(names + deep)]


def _moments_of(text: str) -> Iterator[str]:
    utc = in_utc(text)
    for each in (text, utc.isoformat() if utc else ""):
        match = _MOMENT.match(each)
        if match:
            yield "".join(match.groups())


def scan_export(folder: Path, *, forbidden: Forbidden) -> tuple[Leak, ...]:
    """Search all files of an export, their names, and what is packed in them.

    Parameters
    ----------
    folder : Path
        The export.
    forbidden : Forbidden
        What must not be there, beside e-mail addresses and paths of people's folders.

    Returns
    -------
    tuple of Leak
        One for each kind in each file; empty where nothing was found.

    Raises
    ------
    DatasetError
        If a file cannot be searched, or there are symbolic links.
    """
    search = _Search(forbidden)
    leaks: dict[tuple[str, str], Leak] = {}
    for name in files_below(folder):
        parts = [Part(name, name)]
        for part in (*parts, *_parts_of_file(folder, name)):
            for leak in search.leaks_in(part):
                leaks.setdefault((leak.file, leak.kind), leak)
    return tuple(leaks.values())


def _parts_of_file(folder: Path, name: str) -> Iterator[Part]:
    try:
        data = (folder / name).read_bytes()
    except OSError as error:
        raise DatasetError(f"{folder / name} cannot be read: {error.strerror}") from error
    yield from parts_of(name, data)


class _Search:
    """Finds what is forbidden in one part after the other."""

    def __init__(self, forbidden: Forbidden) -> None:
        self.forbidden = forbidden
        ids = [unicodedata.normalize("NFC", i) for i in forbidden.ids]
        ordinary = _Ordinary(unicodedata.normalize("NFC", forbidden.ordinary))
        # Some formats leave hyphens and spaces out of ids.
        spellings = dict.fromkeys([*ids, *("".join(_WORD.findall(i)) for i in ids)])
        self.distinctive = _Words(i for i in spellings if _is_distinctive(i, ordinary))
        self.ids = frozenset(ids)
        self.names = _Words(
            n
            for n in forbidden.names
            if _is_distinctive(n, _Ordinary("")) or len(Path(n).parts) > 2
        )
        self.emails = forbidden.allowed_emails | _own_emails()

    def leaks_in(self, part: Part) -> Iterator[Leak]:
        """Give a leak for each kind of thing that is found."""
        text = unicodedata.normalize("NFC", part.text)
        in_bytes = not part.is_prose
        for words, kind in (
            (self.distinctive, "participant id"),
            (self.names, "name of a user or machine"),
        ):
            match = words.first_in(text, in_bytes=in_bytes)
            if match is not None:
                yield _leak(part, kind, text, match)
        if in_bytes:
            return
        if self.ids & {unicodedata.normalize("NFC", value) for value in part.values}:
            yield Leak(part.place, "participant id")
        for kind, matches in self._found_in(part, text):
            first = next(matches, None)
            if first is not None:
                yield _leak(part, kind, text, first)

    def _found_in(self, part: Part, text: str) -> Iterator[tuple[str, Iterator[re.Match[str]]]]:
        """Give each kind of thing that is told by its form, with where it stands."""
        moments = self.forbidden.moments
        yield "participant id", (m for m in _SUBJECT.finditer(text) if m[1] in self.ids)
        yield "e-mail address", (m for m in EMAIL.finditer(text) if m[0].lower() not in self.emails)
        yield "absolute path", PERSONAL_PATH.finditer(text)
        if moments:
            found = _MOMENT.finditer(text)
            yield "date and time", (m for m in found if "".join(m.groups()) in moments)
        if part.place.lower().endswith(".pdf"):
            return  # Numbers of glyphs look like digits by chance; what a page says, a table does.
        yield "date in words", filter(self._is_unsaid, dates_in_words(text))
        yield "telephone number", filter(self._is_unsaid, phone_numbers(text))

    def _is_unsaid(self, match: re.Match[str]) -> bool:
        """Whether neither `publication.toml` nor a text of this program says what was found."""
        return match[0] not in self.forbidden.public and match[0] not in _own_texts()


def _leak(part: Part, kind: str, text: str, match: re.Match[str]) -> Leak:
    return Leak(part.place, kind, _line(text, match.start()), column_of(part, match[0]))


class _Words:
    """Finds the first of many words in a text, in time that does not grow with their number.

    Each is looked up by its longest run of letters and digits, and then compared whole.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._by_run: dict[str, list[str]] = {}
        self._without_run: list[str] = []
        for word in words:
            runs = _WORD.findall(word)
            if runs:
                self._by_run.setdefault(max(runs, key=len).casefold(), []).append(word)
            else:
                self._without_run.append(word)

    def first_in(self, text: str, *, in_bytes: bool) -> re.Match[str] | None:
        """Return where one of them stands by itself; null where none does."""
        found = set(_WORD.findall(text.casefold())) & self._by_run.keys()
        candidates = [word for run in found for word in self._by_run[run]] + self._without_run
        for word in candidates:
            if in_bytes and len(word) < _SHORTEST_IN_BYTES:
                continue
            match = _by_itself(word).search(text)
            if match:
                return match
        return None


def _by_itself(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", re.IGNORECASE)


def _stands_in(word: str, text: str) -> bool:
    return bool(_by_itself(word).search(text))


class _Ordinary:
    """Texts whose words mean nobody; most words are seen not to be among them at once."""

    def __init__(self, text: str) -> None:
        self._text = text.casefold()
        self._runs = frozenset(_WORD.findall(self._text))

    def __contains__(self, word: str) -> bool:
        folded = word.casefold()
        if not self._runs.issuperset(_WORD.findall(folded)) or folded not in self._text:
            return False
        return _stands_in(folded, self._text)


def _is_distinctive(word: str, ordinary: _Ordinary) -> bool:
    if word.isdecimal():
        return len(word) >= _SHORTEST_NUMBER
    if len(word) < _SHORTEST_DISTINCTIVE:
        return False
    return word not in ordinary and word not in _own_words()


@lru_cache(maxsize=1)
def _own_texts() -> str:
    """Return all that this program says or is written in, whose words mean nobody."""
    texts = []
    for package in (ghostblitz_task, ghostblitz_analysis):
        for path in sorted(Path(str(package.__file__)).parent.rglob("*")):
            if path.suffix in _SOURCE_ENDINGS:
                texts.append(path.read_text(encoding="utf-8", errors="replace"))
    return "\n".join(texts)


@lru_cache(maxsize=1)
def _own_words() -> _Ordinary:
    return _Ordinary(_own_texts())


@lru_cache(maxsize=1)
def _own_emails() -> frozenset[str]:
    return frozenset(found.lower() for found in EMAIL.findall(_own_texts()))


def _line(text: str, place: int) -> int | None:
    return text.count("\n", 0, place) + 1 if "\n" in text else None
