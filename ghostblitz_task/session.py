"""The trial loop, the only one there is; it sees protocols, never a window or a keyboard."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.card_trials import RECYCLED_BLOCK, CardTrials, Judgement, Look, PlayedFor
from ghostblitz_task.company import Table
from ghostblitz_task.config import BlockSettings, StudySettings
from ghostblitz_task.design import Plan, TrialPlan
from ghostblitz_task.errors import ApparatusError
from ghostblitz_task.event_meanings import card_event_reader
from ghostblitz_task.games import Game, GameState, Stimulus
from ghostblitz_task.marking import BLOCK_END, BLOCK_START
from ghostblitz_task.outline import BlockStep, PileStep, ScreenStep, outline
from ghostblitz_task.presenting import Presenter, QuitRequested, Recorder
from ghostblitz_task.round_screens import final_standings
from ghostblitz_task.rounds import Company, first_table, recycled_trial
from ghostblitz_task.scoring import TrialFacts
from ghostblitz_task.screens import FeedbackKind, Screen, Screens
from ghostblitz_task.session_header import Resumed, SessionIdentity, session_header

__all__ = [
    "RECYCLED_BLOCK",
    "Recorder",
    "Resumed",
    "SessionIdentity",
    "SessionOutcome",
    "run_session",
]

Status = Literal["completed", "quit"]


@dataclass(frozen=True, slots=True)
class SessionOutcome:
    """How a run ended; `n_trials` counts the session's completed trials, earlier runs too.

    `unit` is what its trials are called.
    """

    status: Status
    n_trials: int
    unit: str = "trials"


@dataclass(frozen=True, slots=True)
class TablesMet:
    """What a session finds as it begins or goes on: what lies round the card, and whose cards."""

    state: GameState
    cards: Table | None = None


def run_session(
    settings: StudySettings,
    *,
    plan: Plan,
    screens: Screens,
    apparatus: Apparatus,
    apparatus_settings: ApparatusSettings,
    log: Recorder,
    identity: SessionIdentity,
    met: TablesMet | None = None,
    company: Company | None = None,
    started: datetime | None = None,
    stop_requested: Callable[[], str | None] = lambda: None,
    on_trial: Callable[[int, int], None] = lambda _done, _planned: None,
    timing_self_test: Mapping[str, Any] | None = None,
) -> SessionOutcome:
    """Run one session and log everything that happens in it.

    Parameters
    ----------
    settings, plan, screens
        The study, its trial sequence, and what it shows.
    apparatus, apparatus_settings
        Where it runs.
    log : Recorder
        A new, empty log.
    identity : SessionIdentity
        Goes into the header. With `resumes`, the trials that run completed are left out.
    met : TablesMet, optional
        The tables that a resumed session meets; null before its first card.
    company : Company, optional
        Who plays for the cards; null where nobody does.
    started : datetime, optional
        Wall-clock time for the header; null leaves it out, so that simulated logs repeat.
    stop_requested : callable
        Asked at each frame; a reason ends the session as the quit key does.
    on_trial : callable
        Called between trials with the number of trials done and planned.
    timing_self_test : mapping, optional
        What is quoted in the header of the test of this machine; null where there was none.

    Raises
    ------
    LogError
        If a record cannot be written; all earlier ones are kept.
    ApparatusError
        If screen or keyboard fails; the log says so.
    """
    if met is None:
        met = TablesMet(plan.table, first_table(company, plan) if company else None)
    played_for = PlayedFor(company, met.cards, identity.seed) if company and met.cards else None
    loop = _Loop(settings, plan, screens, apparatus, log, played_for, stop_requested, on_trial)
    header = session_header(
        settings, plan, apparatus, apparatus_settings, identity, started, timing_self_test
    )
    header["company"] = company.header() if company else None
    log.append("header", header)
    try:
        return loop.run(identity.resumes, met.state)
    except ApparatusError as error:
        loop.end("failed", str(error))
        raise


class _Loop:
    """One run: screens, blocks and what moves between trials, and the records of each."""

    def __init__(
        self,
        settings: StudySettings,
        plan: Plan,
        screens: Screens,
        apparatus: Apparatus,
        log: Recorder,
        played_for: PlayedFor | None,
        stop_requested: Callable[[], str | None],
        on_trial: Callable[[int, int], None],
    ) -> None:
        self.settings = settings
        self.played_for = played_for
        self.plan = plan
        self.screens = screens
        self.game: Game = screens.game
        self.apparatus = apparatus
        self.log = log
        self.on_trial = on_trial
        # One look for each table there can be, so that all are rendered before the first trial.
        self.looks = {state.hat_over: self._look(state) for state in screens.tables()}
        self.presenter = Presenter(
            apparatus,
            log,
            card_event_reader(settings, screens),
            quit_key=settings.responses.quit_key,
            key_name=screens.key_name,
            stop_requested=stop_requested,
            first=self.looks[plan.table.hat_over].blank,
        )
        self.trials = CardTrials(
            settings,
            screens,
            apparatus=apparatus,
            presenter=self.presenter,
            log=log,
            looks=self.looks,
            played_for=played_for,
        )

    def _look(self, state: GameState) -> Look:
        kinds: tuple[FeedbackKind, ...] = ("right", "wrong", "early", "late")
        return Look(
            fixation=self.screens.fixation(state),
            blank=self.screens.blank(state),
            feedback={kind: self.screens.feedback(kind, state) for kind in kinds},
            hat_moved=self.screens.hat_moved(state) if state.hat_over else None,
        )

    # --- the session -------------------------------------------------------------------------

    def run(self, resumes: Resumed | None, state: GameState) -> SessionOutcome:
        first = resumes.n_trials if resumes else 0
        self.trials.n_done = first
        try:
            for step in outline(self.plan, self.screens, first_trial=first):
                if isinstance(step, BlockStep):
                    self._begin_block(step.block_index, state)
                elif isinstance(step, ScreenStep):
                    self.presenter.self_paced(step.screen, again=step.again)
                    if step.block_begins and state.hat_over:
                        self._show_hat(state, trial_index=None, mover=None)
                elif isinstance(step, PileStep):
                    self._play_recycled(state)
                else:
                    state = self._trial(step, self.plan.blocks[step.block_index], state)
        except QuitRequested as request:
            self.end("quit", request.reason)
            return SessionOutcome("quit", self.trials.n_done)
        self.presenter.await_releases()
        self.end("completed", None)
        return SessionOutcome("completed", self.trials.n_done)

    def end(self, status: str, reason: str | None) -> None:
        """Write the last record, with the events that nothing else has taken."""
        self.log.append(
            "end",
            {
                "status": status,
                "reason": reason,
                "n_trials": self.trials.n_done,
                "t_s": self.presenter.flip_s,
                "events": self.presenter.take_events(),
                **self.presenter.marking.take(),
                **self.presenter.marking.report(),
            },
        )

    def _play_recycled(self, state: GameState) -> None:
        """Play the cards that went back under the pile, in a block of their own after all others.

        There is none where nobody plays for the cards.
        """
        played_for = self.played_for
        if played_for is None:
            return
        block = BlockSettings(label=RECYCLED_BLOCK, n_trials=max(len(played_for.table.pile), 1))
        n_recycled = self.trials.n_done - len(self.plan.trials)
        begun = False
        while played_for.table.pile and n_recycled < played_for.company.max_recycled:
            trial = recycled_trial(
                self.settings,
                self.plan,
                played_for.table,
                self.game,
                seed=played_for.seed,
                n_recycled=n_recycled,
            )
            if not begun:
                self._prepare_looks()
            self.apparatus.prepare([self.screens.card(self.game.stimulus(trial.card, state))])
            if not begun:
                self._log_block(len(self.plan.blocks), block)
                begun = True
            state = self._trial(trial, block, state)
            n_recycled += 1
        standings = final_standings(self.screens, played_for.table, played_for.company)
        self.presenter.self_paced(standings)

    def _begin_block(self, block_index: int, state: GameState) -> None:
        self._prepare_block(block_index, state)
        self._log_block(block_index, self.plan.blocks[block_index])

    def _log_block(self, block_index: int, block: BlockSettings) -> None:
        self.presenter.marking.send_border(BLOCK_START, block_index)
        self.log.append(
            "block",
            {
                "block_index": block_index,
                "label": block.label,
                "phase": block.phase,
                "block_type": block.type,
                "n_trials": block.n_trials,
                "t_s": self.presenter.flip_s,
                **self.presenter.marking.take(),
            },
        )

    def _prepare_block(self, block_index: int, state: GameState) -> None:
        """Render every table and every card of a block; nothing is rendered during a trial."""
        cards = [
            self.screens.card(self.game.stimulus(trial.card, state))
            for trial in self.plan.trials_of(block_index)
        ]
        self._prepare_looks()
        self.apparatus.prepare(cards)

    def _prepare_looks(self) -> None:
        for look in self.looks.values():
            moved = [look.hat_moved] if look.hat_moved else []
            self.apparatus.prepare([look.fixation, look.blank, *look.feedback.values(), *moved])

    # --- trials ------------------------------------------------------------------------------

    def _trial(self, trial: TrialPlan, block: BlockSettings, state: GameState) -> GameState:
        stimulus = self.game.stimulus(trial.card, state)
        facts, judged = self.trials.run(trial, block, stimulus)
        outcome = judged.outcome
        if choices := self.game.hat_choices(stimulus, outcome):
            after = self._move_hat(stimulus, judged, choices, trial.trial_index)
        else:
            after = self.game.advance(state, stimulus, outcome)
        if self._ends_block(trial, block):
            self.presenter.marking.send_border(BLOCK_END, trial.block_index)
        self._between_trials(facts, self.looks[after.hat_over].blank)
        return after

    def _ends_block(self, trial: TrialPlan, block: BlockSettings) -> bool:
        """Say whether a trial that is over was the last of its block."""
        if trial.block_index < len(self.plan.blocks):
            return trial.trial_in_block + 1 == block.n_trials
        assert self.played_for is not None
        n_recycled = self.trials.n_done - len(self.plan.trials)
        return not self.played_for.table.pile or n_recycled >= self.played_for.company.max_recycled

    def _move_hat(
        self, stimulus: Stimulus, judged: Judgement, choices: tuple[str, ...], trial_index: int
    ) -> GameState:
        """Put the hat over another item, chosen by who was right or by the schedule."""
        outcome, mover, seat = judged.outcome, self.game.hat_mover, self._seat(judged)
        if mover == "participant" and seat is None:
            mover = "schedule"  # A rival has no keys.
        if mover == "participant" and seat is not None:
            _, key = self.presenter.await_key(
                self.screens.hat_choice(stimulus.state, choices, seat=seat)
            )
            keys = self.settings.responses.players[seat].grab_keys
            chosen = next(item for item in choices if keys[item] == key)
            outcome = dataclasses.replace(outcome, hat_to=chosen)
        after = self.game.advance(stimulus.state, stimulus, outcome)
        self._show_hat(after, trial_index=trial_index, mover=mover)
        return after

    def _seat(self, judged: Judgement) -> int | None:
        """Return who was right; None for a rival."""
        if judged.played is None or self.played_for is None:
            return 0
        players, winner = self.played_for.company.players, judged.played.result.winner
        return players.index(winner) if winner in players else None

    def _show_hat(self, state: GameState, *, trial_index: int | None, mover: str | None) -> None:
        """Show the hat going over its item, once it is there, and log it.

        `trial_index` is the trial that made it move; null where it only is shown again.
        """
        screen = self.looks[state.hat_over].hat_moved
        assert screen is not None
        onset_s = self.presenter.present(screen)
        self.presenter.hold(screen, from_s=onset_s, duration_s=self.settings.timing.hat_move_s)
        self.log.append(
            "hat",
            {
                "trial_index": trial_index,
                "mover": mover,
                "hat_over": state.hat_over,
                "onset_s": onset_s,
                "end_s": self.presenter.flip_s,
                "events": self.presenter.take_events(),
            },
        )

    def _between_trials(self, facts: TrialFacts, blank: Screen) -> None:
        shown = self.presenter.shown
        began_s = self.presenter.flip_s if shown is blank else self.presenter.present(blank)
        self.apparatus.between_trials()
        self.on_trial(self.trials.n_done, len(self.plan.trials))
        wants_pause = self._paused(facts)
        interval_s = self.settings.timing.inter_trial_interval_s
        self.presenter.hold(blank, from_s=began_s, duration_s=interval_s)
        if wants_pause or self._paused(None):
            self.presenter.self_paced(self.screens.pause())

    def _paused(self, facts: TrialFacts | None) -> bool:
        key = self.settings.responses.pause_key
        events = facts.events if facts is not None else tuple(self.presenter.events)
        return any(e.kind == "press" and e.key == key for e in events)
