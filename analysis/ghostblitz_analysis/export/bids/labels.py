"""Labels of participants and tasks in BIDS: letters and digits only, each for one of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["participant_labels", "task_label"]

#: A label stands twice in a file's path, and file names end at 255 bytes on common systems.
_LONGEST = 64
_NOT_ALPHANUMERIC = re.compile(r"[^0-9A-Za-z]+")


def task_label(name: str) -> str:
    """Return a task's label: its name without all that is neither letter nor digit."""
    return _plain(name) or "task"


def participant_labels(ids: Iterable[str]) -> dict[str, str]:
    """Give each participant a label that no other has, in capitals or not.

    Parameters
    ----------
    ids : iterable of str
        Participants' own ids; any text.

    Returns
    -------
    dict of str to str
        By id, in order. An id that is a label already keeps it. Another loses its accents and
        all that is neither letter nor digit; ``p`` stands for an id of which nothing is left.
        Where that is taken, ``x2``, ``x3``, … follows. The same ids give the same labels in
        whatever order they come.

    Examples
    --------
    >>> participant_labels(["01", "0-1", "Zoë"])
    {'01': '01', '0-1': '01x2', 'Zoë': 'Zoe'}
    """
    given = list(dict.fromkeys(ids))
    # Those that can keep their id come first, so that no other's label takes it.
    order = sorted(given, key=lambda name: (_plain(name) != name, name))
    labels: dict[str, str] = {}
    taken: set[str] = set()
    for name in order:
        stem = _plain(name) or "p"
        label, number = stem, 1
        # Some file systems take capitals and small letters for the same.
        while label.casefold() in taken:
            number += 1
            label = f"{stem}x{number}"
        taken.add(label.casefold())
        labels[name] = label
    return {name: labels[name] for name in given}


def _plain(name: str) -> str:
    apart = unicodedata.normalize("NFKD", name)
    return _NOT_ALPHANUMERIC.sub("", apart)[:_LONGEST]
