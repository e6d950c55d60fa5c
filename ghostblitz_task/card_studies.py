"""A study of cards, as `run` and `simulate` see any study: its company, tables and apparatus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.apparatus.simulated import SimulatedApparatus
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.company import ghost_trials, make_ghost
from ghostblitz_task.config import STUDY_FILE, StudySettings, load_study
from ghostblitz_task.deck import Deck
from ghostblitz_task.design import Plan, plan_session, study_deck
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Game
from ghostblitz_task.palettes import Palette
from ghostblitz_task.participants import make_participant
from ghostblitz_task.presenting import Recorder
from ghostblitz_task.rounds import (
    Company,
    RivalDescription,
    first_table,
    make_company,
    model_rival,
    replay_rounds,
)
from ghostblitz_task.runnable import game_name
from ghostblitz_task.scoring import chosen_hat_moves, replay_trials
from ghostblitz_task.screens import Screens
from ghostblitz_task.seeds import rng_for
from ghostblitz_task.session import SessionOutcome, TablesMet, run_session
from ghostblitz_task.session_header import SessionIdentity
from ghostblitz_task.texts import load_texts
from ghostblitz_task.trial_log import RunLog, participant_logs, read_log

__all__ = ["CardSession", "Study", "open_card_study"]


@dataclass(frozen=True)
class Study:
    """A study that has been checked whole: it can be planned, drawn and run."""

    folder: Path
    settings: StudySettings
    game: Game
    screens: Screens

    def deck(self, seed: int) -> Deck:
        """Return the deck that the session of this seed draws from."""
        return study_deck(self.settings, self.game, rng_for(seed, "deck"))

    def plan(self, seed: int) -> Plan:
        """Plan a session; a limit that cannot be kept raises `ConfigError`."""
        return plan_session(self.settings, self.game, seed=seed)

    # --- what `run` and `simulate` need ------------------------------------------------------

    default_model = "ex-gaussian"

    @property
    def palette(self) -> Palette:
        """The colours, for the window."""
        return self.screens.palette

    @property
    def extent_deg(self) -> tuple[float, float]:
        """Width and height, in degrees, that a screen must have at least."""
        return self.screens.extent_deg()

    @property
    def pointer_visible(self) -> bool:
        """Whether answers are taken from mouse or touch."""
        return self.settings.responses.pointer

    @property
    def n_players(self) -> int:
        """How many play together at one machine."""
        return len(self.settings.responses.players)

    def check(self, seed: int) -> None:
        """Refuse a session that cannot be planned; a limit that cannot be kept: `ConfigError`."""
        self.plan(seed)

    def read_settings(self, path: Path) -> StudySettings:
        """Read the settings of a copy of a study in this one's language."""
        return load_study(path, language=self.settings.study.language)

    def plan_sha256(self, seed: int) -> str:
        """Return the hash of what comes in a session."""
        return self.plan(seed).sha256

    def n_done(self, run: RunLog) -> int:
        """Return how many trials of a session were completed, in this run of it or before."""
        earlier: int = (run.header["resumes"] or {"n_trials": 0})["n_trials"]
        done = [int(trial["trial_index"]) + 1 for trial in run.of_type("trial")]
        return max([earlier, *done])

    def prepare(self, logs: Path, identity: SessionIdentity) -> CardSession:
        """Plan a session and find what it begins with.

        Raises
        ------
        ConfigError
            If it cannot be planned, there are more or fewer people than sets of keys, or a ghost
            has too few trials.
        """
        plan = self.plan(identity.seed)
        company = _company(self, logs, identity)
        met = _tables_met(self, plan, logs, identity, company)
        return CardSession(self, identity, plan, company, met)

    def simulated_apparatus(self, model: str, seed: int) -> Apparatus:
        """Seat a simulated participant at each set of keys, each with randomness of its own.

        Raises
        ------
        ConfigError
            If there is no such model.
        """
        settings = self.settings
        seats = []
        for seat in range(self.n_players):
            # The first has the stream that it has where it plays alone.
            rng = rng_for(seed, "participant", seat or None)
            participant = make_participant(model, rng, deadline_s=settings.timing.deadline_s)
            seats.append((participant, rng))
        return SimulatedApparatus(seats, game=self.game, responses=settings.responses)


@dataclass(frozen=True)
class CardSession:
    """A session that has been planned."""

    study: Study
    identity: SessionIdentity
    plan: Plan
    company: Company | None
    met: TablesMet | None

    def run(
        self,
        apparatus: Apparatus,
        *,
        apparatus_settings: ApparatusSettings,
        log: Recorder,
        started: datetime | None,
        stop_requested: Callable[[], str | None],
        on_trial: Callable[[int, int], None],
        timing_self_test: Mapping[str, Any] | None = None,
    ) -> SessionOutcome:
        """Run its trials; see `run_session`."""
        return run_session(
            self.study.settings,
            plan=self.plan,
            screens=self.study.screens.with_key_labels(apparatus.key_labels()),
            apparatus=apparatus,
            apparatus_settings=apparatus_settings,
            log=log,
            identity=self.identity,
            met=self.met,
            company=self.company,
            started=started,
            stop_requested=stop_requested,
            on_trial=on_trial,
            timing_self_test=timing_self_test,
        )


def open_card_study(folder: Path, *, language: str | None = None) -> Study:
    """Read a study and check that all it needs is there.

    Raises
    ------
    ConfigError
        For anything that would go wrong later: settings, language, drawings.
    """
    if game_name(folder) == "captain":
        raise ConfigError(f"{folder} is a study of the captain's deck, which has no cards")
    settings = load_study(folder, language=language)
    game = settings.make_game()
    screens = Screens(settings, game, load_texts(settings.study.language))
    study = Study(folder if folder.is_dir() else folder.parent, settings, game, screens)
    try:
        screens.check_drawable()
        # Each example of the instructions must exist in the game as this study sets it.
        for _ in screens.instructions():
            pass
        _check_rival(study)
    except ConfigError as error:
        raise ConfigError(f"{study.folder / STUDY_FILE}: {error}") from error
    return study


def _check_rival(study: Study) -> None:
    """Refuse a rival of settings that has no RTs for a rule of the cards, or some for another."""
    company = study.settings.company
    if company is None or company.rival is None or company.rival.kind != "model":
        return
    rules = {stimulus.solution.rule for stimulus in study.deck(0).stimuli}
    stated = set(company.rival.median_rt_s)
    for wrong, what in ((rules - stated, "there is none for"), (stated - rules, "it has one for")):
        if wrong:
            raise ConfigError(
                f"company.rival.median_rt_s: {what} {', '.join(sorted(wrong))}, but the deck's "
                f"cards follow {', '.join(sorted(rules))}"
            )


def _company(study: Study, logs: Path, identity: SessionIdentity) -> Company | None:
    """Return who plays for the cards, with a rival made of settings or of earlier sessions.

    Raises
    ------
    ConfigError
        If there are more or fewer people than sets of keys, or a ghost has too few trials.
    """
    players = (identity.participant_id, *identity.others)
    n_wanted = len(study.settings.responses.players)
    if len(players) != n_wanted:
        raise ConfigError(
            f"study {study.settings.study.id} is for {n_wanted} at one machine, but "
            f"{len(players)} are named; the others are named by --with"
        )
    settings = study.settings.company
    if settings is None or settings.rival is None:
        return make_company(study.settings, players)
    if settings.rival.kind == "model":
        rival = model_rival(settings.rival)
        description = RivalDescription("model")
    else:
        rules = sorted({s.solution.rule for s in study.deck(identity.seed).stimuli})
        runs = _earlier_runs(logs, identity)
        trials = ghost_trials(runs, study.game)
        rival = make_ghost(trials, rules=rules)
        counts = {rule: sum(t.rule == rule for t in trials) for rule in rules}
        description = RivalDescription("ghost", counts, tuple(run.path.name for run in runs))
    return make_company(study.settings, players, rival=rival, rival_description=description)


def _earlier_runs(logs: Path, identity: SessionIdentity) -> list[RunLog]:
    return [
        read_log(path)
        for session in range(1, identity.session)
        for path in participant_logs(logs, identity.participant_id, session=session)
    ]


def _tables_met(
    study: Study, plan: Plan, logs: Path, identity: SessionIdentity, company: Company | None
) -> TablesMet | None:
    """Return the tables that a resumed session's next trial meets, after all its trials so far."""
    if identity.resumes is None:
        return None
    paths = participant_logs(logs, identity.participant_id, session=identity.session)
    records = [record for path in paths for record in read_log(path).records]
    trials = [record for record in records if record["type"] == "trial"]
    moves = chosen_hat_moves(records)
    state = plan.table
    if company is None:
        for replayed in replay_trials(trials, study.game, state, hat_moves=moves):
            state = replayed.after
        return TablesMet(state)
    cards = first_table(company, plan)
    for round_ in replay_rounds(trials, study.game, state, company, cards, hat_moves=moves):
        state = round_.after
        cards = round_.played.table if round_.record["phase"] == "test" else cards
    return TablesMet(state, cards)
