"""A paragraph for a Methods section, made from settings, data and versions; it claims no more."""

from __future__ import annotations

from collections.abc import Iterator

from ghostblitz_analysis.apa import r_apa
from ghostblitz_analysis.exclusions import total_flow
from ghostblitz_analysis.paper_sentences import CORRECTIONS, MEASURES
from ghostblitz_analysis.results import Analysis, AnalysisResult
from ghostblitz_analysis.summary import counted_trials
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.wording import count_of, level_name, percent

__all__ = ["methods_paragraph"]


def methods_paragraph(result: AnalysisResult) -> str:
    """Return the paragraph as plain text.

    Parameters
    ----------
    result : AnalysisResult
        Everything that was done.

    Returns
    -------
    str
        Participants and trials, exclusions in their order, measures, tests with their correction,
        models, reliability and versions; what was not done is not in it.
    """
    sentences = [
        *_sample(result),
        *_exclusions(result.analysis),
        *_measures(result.analysis),
        *_models(result.analysis),
        *_reliability(result.analysis),
        _versions(result),
    ]
    return " ".join(sentences)


_WHOSE = {
    "simulated": "simulated participants (no people)",
    "robot": "sessions of a robot (no people)",
    "imported": "participants, recorded by other software",
    "human": "participants",
}


def _sample(result: AnalysisResult) -> Iterator[str]:
    analysis = result.analysis
    sources = analysis.sources
    known = _WHOSE.get(sources[0]) if len(sources) == 1 else None
    whose = known or f"participants ({', '.join(sources)} together)"
    n = analysis.n_participants
    if n == 1:
        whose = whose.replace("participants", "participant", 1).replace("sessions", "session", 1)
    text = f"The data are {count_of(len(analysis.trials), 'trial')} of {n:,} {whose}"
    phases = analysis.settings.phases
    n_phase = int(analysis.trials["phase"].isin(phases).sum())
    if n_phase < len(analysis.trials):
        text += f"; {n_phase:,} of them are {' and '.join(phases)} trials, which were analysed"
    yield f"{text}."
    flow = result.dataset.import_flow
    n_dropped = sum(n_rows for _, n_rows in flow.dropped) if flow else 0
    if flow is not None and n_dropped:
        rows = count_of(flow.n_rows_read, "row")
        yield f"On import, {n_dropped:,} of {rows} had been left out."


def _exclusions(analysis: Analysis) -> Iterator[str]:
    steps, n_trials = [], len(analysis.trials)
    for row in rows_of(total_flow(analysis.audit)):
        if row["n_newly_excluded"]:
            share = percent(row["n_newly_excluded"] / n_trials)
            steps.append(f"{row['reason']} ({row['n_newly_excluded']:,}, {share}%)")
    if steps:
        yield (
            "In this order, trials were left out of the RT measures, or of everything where the "
            f"table of exclusions says so: {'; '.join(steps)}; percentages are of all trials."
        )
    else:
        yield "No trial was left out."
    left = analysis.participants_left_out
    if left is not None and len(left):
        people = sorted(set(left["participant_id"]))
        yield f"Stated limits took out {count_of(len(people), 'participant')}."
    bounds = analysis.settings.bounds
    yield (
        f"RTs of correct trials from {bounds.min_rt_s:g} to {bounds.max_rt_s:g} s were used "
        f"({int(analysis.group_cells['n_rt'].sum()):,} RTs); errors were counted over "
        f"{counted_trials(analysis)}."
    )


def _measures(analysis: Analysis) -> Iterator[str]:
    found, settings = analysis.inference, analysis.settings
    if found is None:
        return
    tested = found.planned_contrasts[found.planned_contrasts["t"].notna()]
    if len(tested):
        measures = [MEASURES[name] for name in dict.fromkeys(tested["measure"])]
        correction = (
            "without correction for several tests"
            if settings.correction == "none"
            else f"{CORRECTIONS[settings.correction]} over the contrasts of each measure"
        )
        yield (
            f"Planned contrasts of {_listed(measures)} were tested by paired, two-sided t tests "
            f"({correction}; alpha = {r_apa(settings.alpha)}), with {settings.confidence:.0%} "
            "confidence intervals, effect sizes dz and Bayes factors (Cauchy prior, scale "
            f"{settings.bayes_r_scale:.3g})."
        )
    if found.anova["f"].notna().any():
        yield (
            "Effects of all factors were tested by repeated-measures analyses of variance"
            + (", one per mode" if "mode" in analysis.factors else "")
            + "; where an effect has more than one degree of freedom, p is Greenhouse-Geisser-"
            "corrected."
        )


def _models(analysis: Analysis) -> Iterator[str]:
    if analysis.regression is None:
        return
    fits = analysis.regression.models
    for row in rows_of(fits[fits["selected"].fillna(False)]):
        kind = "logistic" if row["outcome"] == "error" else "linear mixed"
        noun = {"log_rt": "log RT", "inverse_rt": "-1/RT", "error": "errors"}[row["outcome"]]
        where = f" in {level_name('mode', row['mode'])}" if row["mode"] else ""
        left_out = row["n_rows_left_out"]
        yield (
            f"A {kind} model of {noun}{where} was fitted as {row['formula']} "
            f"({row['estimator']}, {row['engine']}; "
            f"{row['coding']})"
            + (f", without {left_out:,} trials of unknown correctness." if left_out else ".")
        )


def _reliability(analysis: Analysis) -> Iterator[str]:
    found = analysis.reliability
    if found is None or not found.split_half["r"].notna().any():
        return
    yield (
        "Reliability was estimated by Spearman-Brown-corrected correlations of random halves, "
        f"split within participants and cells, over {analysis.settings.reliability.n_splits:,} "
        f"splits (seed {analysis.settings.reliability.seed})."
    )


def _versions(result: AnalysisResult) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    settings = result.analysis.settings.sha256[:12]
    return f"Analyses were made with {versions}; settings {settings} (first digits of SHA-256)."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
