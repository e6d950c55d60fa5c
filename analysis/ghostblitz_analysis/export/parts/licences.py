"""Licences of data by their SPDX identifiers: names, addresses, and what they allow in short."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

__all__ = ["Licence", "known_licences", "licence_of", "licence_text"]


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence that data are often under.

    Attributes
    ----------
    spdx : str
        Identifier, https://spdx.org/licenses.
    name, url : str
        Its full name, and where its legal text stands.
    summary : str or None
        What it allows and asks, in short; null where this program knows no summary.
    """

    spdx: str
    name: str
    url: str
    summary: str | None = None


_SHARE = (
    "You may copy, pass on, change and build upon the data for any purpose{purpose}, as long as "
    "you name the authors, link to the licence, and say what you changed."
)
_SAME = " What you build upon them must be under the same licence."
_NONCOMMERCIAL = " that is not commercial"
_CC = "https://creativecommons.org/licenses"
_KNOWN = (
    Licence(
        "CC0-1.0",
        "Creative Commons Zero v1.0 Universal",
        "https://creativecommons.org/publicdomain/zero/1.0/legalcode",
        "The authors have given up all their copyright and related rights to the data, worldwide, "
        "as far as the law allows. You may copy, change, pass on and use them for any purpose, "
        "without asking. No law asks you to cite them; good scientific practice does.",
    ),
    Licence(
        "CC-BY-4.0",
        "Creative Commons Attribution 4.0 International",
        f"{_CC}/by/4.0/legalcode",
        _SHARE.format(purpose=""),
    ),
    Licence(
        "CC-BY-SA-4.0",
        "Creative Commons Attribution Share Alike 4.0 International",
        f"{_CC}/by-sa/4.0/legalcode",
        _SHARE.format(purpose="") + _SAME,
    ),
    Licence(
        "CC-BY-NC-4.0",
        "Creative Commons Attribution Non Commercial 4.0 International",
        f"{_CC}/by-nc/4.0/legalcode",
        _SHARE.format(purpose=_NONCOMMERCIAL),
    ),
    Licence(
        "CC-BY-NC-SA-4.0",
        "Creative Commons Attribution Non Commercial Share Alike 4.0 International",
        f"{_CC}/by-nc-sa/4.0/legalcode",
        _SHARE.format(purpose=_NONCOMMERCIAL) + _SAME,
    ),
    Licence(
        "ODC-By-1.0",
        "Open Data Commons Attribution License v1.0",
        "https://opendatacommons.org/licenses/by/1-0/",
    ),
    Licence(
        "ODbL-1.0",
        "Open Data Commons Open Database License v1.0",
        "https://opendatacommons.org/licenses/odbl/1-0/",
    ),
    Licence(
        "PDDL-1.0",
        "Open Data Commons Public Domain Dedication & License 1.0",
        "https://opendatacommons.org/licenses/pddl/1-0/",
    ),
)


def known_licences() -> tuple[str, ...]:
    """Return the identifiers of the licences that this program knows."""
    return tuple(licence.spdx for licence in _KNOWN)


def licence_of(spdx: str) -> Licence:
    """Return a licence; of one that is not known, its page at SPDX, which may not exist."""
    for licence in _KNOWN:
        if licence.spdx == spdx:
            return licence
    return Licence(spdx, spdx, f"https://spdx.org/licenses/{spdx}.html")


def licence_text(spdx: str | None, *, title: str, holders: str) -> str:
    """Write the LICENSE of a data set.

    Parameters
    ----------
    spdx : str or None
        Null where the data set states none; the text then says that nothing may be assumed.
    title, holders : str
        What is licensed, and by whom.
    """
    head = f"Licence of the data set: {title}\n\n"
    if spdx is None:
        return head + (
            "No licence was stated for these data. Nothing may be assumed: ask the authors before\n"
            "you copy, change or pass on the data, or anything made of them.\n" + _PARTS
        )
    licence = licence_of(spdx)
    lines = [f"{licence.name}", f"SPDX-License-Identifier: {licence.spdx}", f"By: {holders}", ""]
    if licence.summary:
        lines += [
            "In short, which does not replace the legal text:",
            *textwrap.wrap(licence.summary, 98),
        ]
        lines += [""]
    lines += ["The legal text, which alone is binding:", licence.url]
    return head + "\n".join(lines) + "\n" + _PARTS


_PARTS = """
What is not the authors' own: the drawings in the folder of stimuli are those of the program
ghostblitz, under CC0 1.0 (https://creativecommons.org/publicdomain/zero/1.0/); the texts there are
part of the same program, under the MIT licence. Neither the data set nor the program is affiliated
with, or endorsed by, the publishers of the card games whose rules the tasks follow.
"""
