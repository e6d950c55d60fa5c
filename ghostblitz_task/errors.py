"""The errors a caller may see; only the command line catches them."""

from __future__ import annotations


class GhostBlitzError(Exception):
    """Anything that a user can put right; the message is one line and says how."""


class ConfigError(GhostBlitzError):
    """A setting that is unknown, malformed, contradictory or cannot be met."""


class CardError(GhostBlitzError):
    """A card that is malformed or has no single answer.

    Parameters
    ----------
    code : str
        One of `ghostblitz_task.cards.ERROR_CODES`.
    message : str
        What was found and what was expected, in one line.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class LogError(GhostBlitzError):
    """A log that cannot be created, written or read back."""


class DatasetError(GhostBlitzError):
    """Data that cannot be loaded, or that contradict themselves."""


class ApparatusError(GhostBlitzError):
    """A screen, keyboard or clock that cannot do what the study needs."""
