"""Ghost Blitz reaction-time tasks: cards, games, decks, designs, sessions and their logs.

Importing this package needs neither PsychoPy nor pandas.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

__all__ = ["__version__"]

try:
    __version__ = version("ghostblitz")
except PackageNotFoundError:  # run from a source folder that was never installed
    __version__ = "0+unknown"
