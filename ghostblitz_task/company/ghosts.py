"""A person's earlier trials, out of the logs, for a ghost to play."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from ghostblitz_task.company.rivals import GhostTrial
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Game

__all__ = ["RunRecords", "ghost_trials"]


class RunRecords(Protocol):
    """A run as it was logged, such as `ghostblitz_task.trial_log.RunLog`."""

    @property
    def header(self) -> Mapping[str, Any]:
        """The header record."""
        ...

    def of_type(self, record_type: str) -> Iterator[Mapping[str, Any]]:
        """Return the records of one type, in order."""
        ...


def ghost_trials(run_logs: Iterable[RunRecords], game: Game) -> tuple[GhostTrial, ...]:
    """Collect one person's completed test trials of a game.

    Left out are runs of other games (other items, pictures or additional rules are another game),
    practice, interrupted trials, and cards that came again within a game (`recycled`).

    Parameters
    ----------
    run_logs : iterable of RunRecords
        Runs of one participant, of any sessions.
    game : Game
        The game that the ghost will play.

    Raises
    ------
    ConfigError
        If the runs are of several participants, or one is given twice.
    """
    runs = list(run_logs)
    people = list(dict.fromkeys(str(run.header["participant_id"]) for run in runs))
    if len(people) > 1:
        raise ConfigError(
            f"the runs are of {len(people)} participants ({', '.join(people)}); a ghost is one's "
            "own"
        )
    seen: set[tuple[object, ...]] = set()
    trials: list[GhostTrial] = []
    for run in runs:
        key = tuple(run.header[name] for name in ("study_id", "session", "run"))
        if key in seen:
            raise ConfigError(f"study {key[0]}, session {key[1]}, run {key[2]} is given twice")
        seen.add(key)
        if not _is_of_game(run.header, game):
            continue
        trials += [
            GhostTrial(record["rule"], record["rt_s"], record["correct"], record["error_kind"])
            for record in run.of_type("trial")
            if record["phase"] == "test" and not record.get("recycled", False)
        ]
    return tuple(trials)


def _is_of_game(header: Mapping[str, Any], game: Game) -> bool:
    logged = header.get("game")
    return isinstance(logged, Mapping) and (
        logged.get("name") == game.name
        and logged.get("item_colours") == dict(game.item_colours)
        and logged.get("n_pictures") == game.n_pictures
        and logged.get("shout_item") == getattr(game, "shout_item", None)
        and logged.get("rules") == sorted(game.rules)
    )
