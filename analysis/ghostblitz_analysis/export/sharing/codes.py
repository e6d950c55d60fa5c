"""Random codes in place of participant ids, and the key that alone joins the two."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ghostblitz_task.errors import DatasetError

__all__ = [
    "CodeBook",
    "check_key_place",
    "is_private",
    "key_only_with_export",
    "random_code",
    "read_key",
    "write_key",
]

#: Letters and digits that no other is taken for, without vowels, so that no code is a word. The
#: first letter keeps spreadsheets from taking a code for a number.
_LETTERS, _DIGITS, _FIRST, _N_CHARACTERS = "BCDFGHJKMNPQRTVWX", "2346789", "P", 6
_ALPHABET = _LETTERS + _DIGITS
_HEADER = ["id", "code"]
_MOST_DRAWS = 1000
_LARGEST_KEY_BYTES = 50_000_000
_OWNER_ONLY = 0o600


def random_code() -> str:
    """Draw a code from the system's own randomness; nothing of the participant enters it."""
    return _FIRST + "".join(secrets.choice(_ALPHABET) for _ in range(_N_CHARACTERS))


class CodeBook:
    """Gives each id its code, always the same one.

    Parameters
    ----------
    known : mapping of str to str
        Ids with the codes that an earlier key gave them.
    avoided : iterable of str
        Texts that no code may be: the ids themselves.
    draw : callable
        Draws a code.
    """

    def __init__(
        self,
        known: Mapping[str, str],
        *,
        avoided: Iterable[str] = (),
        draw: Callable[[], str] = random_code,
    ) -> None:
        self.codes = dict(known)
        self._taken = {code.casefold() for code in known.values()}
        self._taken |= {text.casefold() for text in avoided}
        self._draw = draw

    def code_of(self, participant_id: str) -> str:
        """Return the id's code, drawn when it is first asked for.

        Raises
        ------
        DatasetError
            If no free code is found.
        """
        if participant_id not in self.codes:
            self.codes[participant_id] = self._free_code()
        return self.codes[participant_id]

    def _free_code(self) -> str:
        for _ in range(_MOST_DRAWS):
            code = self._draw()
            if code.casefold() not in self._taken:
                self._taken.add(code.casefold())
                return code
        raise DatasetError("no free code was found; there are too many participants")


def check_key_place(key_file: Path, *, outside: Iterable[Path]) -> None:
    """Refuse a key where it could be published with the data.

    Parameters
    ----------
    key_file : Path
        Where the key is to stand, or stands from an earlier export.
    outside : iterable of Path
        Folders it must not be in: the data set, its copy, the export.

    Raises
    ------
    DatasetError
        If it is in one of them, is a symbolic link, or is no plain file.
    """
    if key_file.is_symlink() or (key_file.exists() and not key_file.is_file()):
        raise DatasetError(f"{key_file} is no plain file; name another file for the key")
    place = key_file.parent.resolve() / key_file.name
    for folder in outside:
        if place.is_relative_to(folder.resolve()):
            raise DatasetError(
                f"the key {key_file} would stand in {folder}, and whoever has both knows who is "
                "who; keep it elsewhere"
            )


def read_key(key_file: Path) -> dict[str, str]:
    """Read an earlier key; none is an empty one.

    Raises
    ------
    DatasetError
        If it cannot be read, is no key, or gives an id two codes or two ids one code.
    """
    if not key_file.exists():
        return {}
    try:
        if key_file.stat().st_size > _LARGEST_KEY_BYTES:
            raise DatasetError(f"{key_file} is too large to be a key")
        text = key_file.read_bytes().decode("utf-8")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(f"{key_file} cannot be read as a key: {error}") from error
    if not rows or rows[0] != _HEADER:
        raise DatasetError(f"{key_file} is no key of an earlier export; its columns are id, code")
    codes: dict[str, str] = {}
    taken: set[str] = set()
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(_HEADER) or not all(row) or not row[1].isalnum():
            raise DatasetError(f"{key_file}, row {number}: this is no id with its code")
        if row[0] in codes or row[1] in taken:
            raise DatasetError(f"{key_file}, row {number}: an id or a code stands there twice")
        codes[row[0]] = row[1]
        taken.add(row[1])
    return codes


def write_key(key_file: Path, codes: Mapping[str, str], *, known: Mapping[str, str]) -> None:
    """Write the key, for its owner only; a new one exclusively, an earlier one whole or not at all.

    Parameters
    ----------
    codes : mapping of str to str
        All ids with their codes.
    known : mapping of str to str
        What the file holds by now; empty if it is not there yet.

    Raises
    ------
    DatasetError
        If it cannot be written, or came to be meanwhile.
    """
    if known and dict(codes) == dict(known):
        # What somebody may have let others read is made the owner's again; where the system does
        # not allow that, `is_private` tells.
        with contextlib.suppress(OSError):
            key_file.chmod(_OWNER_ONLY)
        return
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_HEADER, *sorted(codes.items())])
    data = text.getvalue().encode("utf-8")
    try:
        if not known:
            _write_new(key_file, data)
            return
        _write_over(key_file, data)
    except FileExistsError as error:
        raise DatasetError(f"{key_file} is there already and is left as it is") from error
    except OSError as error:
        raise DatasetError(f"the key {key_file} cannot be written: {error.strerror}") from error


def is_private(key_file: Path) -> bool:
    """Whether nobody but its owner may read a key; on Windows its rights do not tell."""
    return os.name == "posix" and not stat.S_IMODE(key_file.stat().st_mode) & ~_OWNER_ONLY


@contextmanager
def key_only_with_export(key_file: Path, *, export: Path) -> Iterator[None]:
    """Leave a key as it was before, or none, if the export that it is the key of is not made.

    Notes
    -----
    The key is on disk before the export is, as an export without its key could not be undone; so
    it has to be taken back where the export is refused.
    """
    before = key_file.read_bytes() if key_file.is_file() else None
    is_new = not os.path.lexists(key_file)
    had_export = os.path.lexists(export)
    try:
        yield
    except BaseException:
        if os.path.lexists(export) and not had_export:
            raise  # What went wrong came after the export was whole.
        # The reason why there is no export is told, whatever becomes of the key.
        with contextlib.suppress(OSError):
            if is_new:
                key_file.unlink(missing_ok=True)
            elif before is not None and key_file.read_bytes() != before:
                _write_over(key_file, before)
        raise


def _write_over(path: Path, data: bytes) -> None:
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        _write_new(partial, data)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _write_new(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(path, flags, _OWNER_ONLY), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
