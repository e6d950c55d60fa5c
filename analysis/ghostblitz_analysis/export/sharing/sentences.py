"""Whether a sentence is in this program's own words, so that it tells of no person or place."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import ghostblitz_task

__all__ = ["is_own_sentence"]

_LETTERS = re.compile(r"[^\W\d_]+")
#: Runs of fewer letters are units and parts of numbers.
_SHORTEST = 3
#: A number of this many digits in one run may be somebody's, or a machine's.
_LONG_NUMBER = re.compile(r"\d{7,}")
#: What graphics drivers and cards, window managers and file systems call themselves.
_SYSTEM_TEXT = """
adreno amd angle apple arc ati direct gallium geforce google graphics gtx intel iris llvm llvmpipe
mali max mesa microsoft mobile mobility nouveau nvidia opengl parallels pcie pro quadro radeon rtx
series softpipe sse swiftshader titan uhd ultra vega virgl virtualbox vmware vulkan xe zink
adl apl bdw bits byt cfl chv cml drm ehl glk hsw icl ivb jsl kbl mtl navi raphael raven rembrandt
renoir rkl rpl skl snb tgl whl
budgie cinnamon compiz compositor compton enlightenment fluxbox gala gnome hyprland icewm kwin lxqt
marco metacity muffin mutter openbox picom plasma qtile shell sway unnamed weston xfwm
apfs btrfs cifs exfat ext fat fuse fuseblk hfs nfs ntfs overlay overlayfs ramfs smb tmpfs vfat xfs
zfs unknown linux windows macos darwin
"""
#: What stands for what was taken out before.
_STAND_INS = ("date", "path", "port", "address")
_SYSTEM_WORDS = frozenset([*_SYSTEM_TEXT.split(), *_STAND_INS])


def is_own_sentence(text: str) -> bool:
    """Whether each word of a text is one that this program uses, or names a part of a system."""
    if _LONG_NUMBER.search(text):
        return False
    words = (word.casefold() for word in _LETTERS.findall(text) if len(word) >= _SHORTEST)
    return all(word in _SYSTEM_WORDS or word in _own_words() for word in words)


@lru_cache(maxsize=1)
def _own_words() -> frozenset[str]:
    folder = Path(str(ghostblitz_task.__file__)).parent
    texts = (path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py")))
    return frozenset(
        word.casefold()
        for text in texts
        for word in _LETTERS.findall(text)
        if len(word) >= _SHORTEST
    )
