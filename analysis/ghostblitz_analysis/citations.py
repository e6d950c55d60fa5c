"""Sources of the statistics that an analysis used, as a list of references in APA style.

Only what was used is cited. A DOI stands only where it is certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ghostblitz_analysis.results import Analysis

__all__ = ["Citation", "citations"]


@dataclass(frozen=True, slots=True, order=True)
class Citation:
    """One reference.

    Attributes
    ----------
    opening : str
        Authors, year and title, up to what is set in italics.
    italic : str
        Journal and volume, or a book's title.
    closing : str
        Pages, publisher.
    doi : str
        Without its address; empty where it is not certain.
    """

    opening: str
    italic: str
    closing: str
    doi: str = ""

    @property
    def text(self) -> str:
        """The reference as plain text."""
        address = f" https://doi.org/{self.doi}" if self.doi else ""
        return f"{self.opening} {self.italic}{self.closing}{address}"


_SOURCES = {
    "timing": Citation(
        "Bridges, D., Pitiot, A., MacAskill, M. R., & Peirce, J. W. (2020). The timing mega-study: "
        "Comparing a range of experiment generators, both lab-based and online.",
        "PeerJ, 8", ", e9414.", "10.7717/peerj.9414",
    ),
    "cousineau": Citation(
        "Cousineau, D. (2005). Confidence intervals in within-subject designs: A simpler solution "
        "to Loftus and Masson's method.",
        "Tutorials in Quantitative Methods for Psychology, 1", ", 42–45.",
        "10.20982/tqmp.01.1.p042",
    ),
    "morey": Citation(
        "Morey, R. D. (2008). Confidence intervals from normalized data: A correction to Cousineau "
        "(2005).",
        "Tutorials in Quantitative Methods for Psychology, 4", ", 61–64.",
        "10.20982/tqmp.04.2.p061",
    ),
    "lakens": Citation(
        "Lakens, D. (2013). Calculating and reporting effect sizes to facilitate cumulative "
        "science: A practical primer for t-tests and ANOVAs.",
        "Frontiers in Psychology, 4", ", 863.", "10.3389/fpsyg.2013.00863",
    ),
    "cumming": Citation(
        "Cumming, G., & Finch, S. (2001). A primer on the understanding, use, and calculation of "
        "confidence intervals that are based on central and noncentral distributions.",
        "Educational and Psychological Measurement, 61", ", 532–574.",
        "10.1177/0013164401614002",
    ),
    "algina": Citation(
        "Algina, J., & Keselman, H. J. (2003). Approximate confidence intervals for effect sizes.",
        "Educational and Psychological Measurement, 63", ", 537–553.",
        "10.1177/0013164403256358",
    ),
    "hedges": Citation(
        "Hedges, L. V. (1981). Distribution theory for Glass's estimator of effect size and "
        "related "
        "estimators.",
        "Journal of Educational Statistics, 6", ", 107–128.", "10.3102/10769986006002107",
    ),
    "rouder": Citation(
        "Rouder, J. N., Speckman, P. L., Sun, D., Morey, R. D., & Iverson, G. (2009). Bayesian t "
        "tests for accepting and rejecting the null hypothesis.",
        "Psychonomic Bulletin & Review, 16", ", 225–237.", "10.3758/PBR.16.2.225",
    ),
    "wilcoxon": Citation(
        "Wilcoxon, F. (1945). Individual comparisons by ranking methods.",
        "Biometrics Bulletin, 1", ", 80–83.", "10.2307/3001968",
    ),
    "kerby": Citation(
        "Kerby, D. S. (2014). The simple difference formula: An approach to teaching nonparametric "
        "correlation.",
        "Comprehensive Psychology, 3", ", 11.IT.3.1.", "10.2466/11.IT.3.1",
    ),
    "holm": Citation(
        "Holm, S. (1979). A simple sequentially rejective multiple test procedure.",
        "Scandinavian Journal of Statistics, 6", ", 65–70.",
    ),
    "fdr_bh": Citation(
        "Benjamini, Y., & Hochberg, Y. (1995). Controlling the false discovery rate: A practical "
        "and powerful approach to multiple testing.",
        "Journal of the Royal Statistical Society: Series B, 57", ", 289–300.",
        "10.1111/j.2517-6161.1995.tb02031.x",
    ),
    "fdr_by": Citation(
        "Benjamini, Y., & Yekutieli, D. (2001). The control of the false discovery rate in "
        "multiple "
        "testing under dependency.",
        "The Annals of Statistics, 29", ", 1165–1188.", "10.1214/aos/1013699998",
    ),
    "gg": Citation(
        "Greenhouse, S. W., & Geisser, S. (1959). On methods in the analysis of profile data.",
        "Psychometrika, 24", ", 95–112.", "10.1007/BF02289823",
    ),
    "hf": Citation(
        "Huynh, H., & Feldt, L. S. (1976). Estimation of the Box correction for degrees of freedom "
        "from sample data in randomized block and split-plot designs.",
        "Journal of Educational Statistics, 1", ", 69–82.", "10.3102/10769986001001069",
    ),
    "olejnik": Citation(
        "Olejnik, S., & Algina, J. (2003). Generalized eta and omega squared statistics: Measures "
        "of effect size for some common research designs.",
        "Psychological Methods, 8", ", 434–447.", "10.1037/1082-989X.8.4.434",
    ),
    "bakeman": Citation(
        "Bakeman, R. (2005). Recommended effect size statistics for repeated measures designs.",
        "Behavior Research Methods, 37", ", 379–384.", "10.3758/BF03192707",
    ),
    "vincentiles": Citation(
        "Ratcliff, R. (1979). Group reaction time distributions and an analysis of distribution "
        "statistics.",
        "Psychological Bulletin, 86", ", 446–461.", "10.1037/0033-2909.86.3.446",
    ),
    "delta": Citation(
        "De Jong, R., Liang, C.-C., & Lauber, E. (1994). Conditional and unconditional "
        "automaticity: A dual-process model of effects of spatial stimulus-response "
        "correspondence.",
        "Journal of Experimental Psychology: Human Perception and Performance, 20", ", 731–750.",
        "10.1037/0096-1523.20.4.731",
    ),
    "hohle": Citation(
        "Hohle, R. H. (1965). Inferred components of reaction times as functions of foreperiod "
        "duration.",
        "Journal of Experimental Psychology, 69", ", 382–386.",
    ),
    "bruyer": Citation(
        "Bruyer, R., & Brysbaert, M. (2011). Combining speed and accuracy in cognitive psychology: "
        "Is the inverse efficiency score (IES) a better dependent variable than the mean reaction "
        "time (RT) and the percentage of errors (PE)?",
        "Psychologica Belgica, 51", ", 5–13.", "10.5334/pb-51-1-5",
    ),
    "woltz": Citation(
        "Woltz, D. J., & Was, C. A. (2006). Availability of related long-term memory during and "
        "after attention focus in working memory.",
        "Memory & Cognition, 34", ", 668–684.", "10.3758/BF03193587",
    ),
    "vandierendonck": Citation(
        "Vandierendonck, A. (2017). A comparison of methods to combine speed and accuracy measures "
        "of performance: A rejoinder on the binning procedure.",
        "Behavior Research Methods, 49", ", 653–673.", "10.3758/s13428-016-0721-5",
    ),
    "liesefeld": Citation(
        "Liesefeld, H. R., & Janczyk, M. (2019). Combining speed and accuracy to control for "
        "speed-accuracy trade-offs(?).",
        "Behavior Research Methods, 51", ", 40–60.", "10.3758/s13428-018-1076-x",
    ),
    "ez": Citation(
        "Wagenmakers, E.-J., van der Maas, H. L. J., & Grasman, R. P. P. P. (2007). An "
        "EZ-diffusion "
        "model for response time and accuracy.",
        "Psychonomic Bulletin & Review, 14", ", 3–22.", "10.3758/BF03194023",
    ),
    "post_error": Citation(
        "Dutilh, G., van Ravenzwaaij, D., Nieuwenhuis, S., van der Maas, H. L. J., Forstmann, "
        "B. U., & Wagenmakers, E.-J. (2012). How to measure post-error slowing: A confound and a "
        "simple solution.",
        "Journal of Mathematical Psychology, 56", ", 208–216.", "10.1016/j.jmp.2012.04.001",
    ),
    "practice": Citation(
        "Heathcote, A., Brown, S., & Mewhort, D. J. K. (2000). The power law repealed: The case "
        "for "
        "an exponential law of practice.",
        "Psychonomic Bulletin & Review, 7", ", 185–207.", "10.3758/BF03212979",
    ),
    "parsons": Citation(
        "Parsons, S., Kruijt, A.-W., & Fox, E. (2019). Psychological science needs a standard "
        "practice of reporting the reliability of cognitive-behavioral measurements.",
        "Advances in Methods and Practices in Psychological Science, 2", ", 378–395.",
        "10.1177/2515245919879695",
    ),
    "pronk": Citation(
        "Pronk, T., Molenaar, D., Wiers, R. W., & Murre, J. (2022). Methods to split cognitive "
        "task "
        "data for estimating split-half reliability: A comprehensive review and systematic "
        "assessment.",
        "Psychonomic Bulletin & Review, 29", ", 44–54.", "10.3758/s13423-021-01948-3",
    ),
    "mcgraw": Citation(
        "McGraw, K. O., & Wong, S. P. (1996). Forming inferences about some intraclass correlation "
        "coefficients.",
        "Psychological Methods, 1", ", 30–46.", "10.1037/1082-989X.1.1.30",
    ),
    "weir": Citation(
        "Weir, J. P. (2005). Quantifying test-retest reliability using the intraclass correlation "
        "coefficient and the SEM.",
        "Journal of Strength and Conditioning Research, 19", ", 231–240.", "10.1519/15184.1",
    ),
    "lme4": Citation(
        "Bates, D., Mächler, M., Bolker, B., & Walker, S. (2015). Fitting linear mixed-effects "
        "models using lme4.",
        "Journal of Statistical Software, 67", "(1), 1–48.", "10.18637/jss.v067.i01",
    ),
    "baayen": Citation(
        "Baayen, R. H., Davidson, D. J., & Bates, D. M. (2008). Mixed-effects modeling with "
        "crossed "
        "random effects for subjects and items.",
        "Journal of Memory and Language, 59", ", 390–412.", "10.1016/j.jml.2007.12.005",
    ),
    "barr": Citation(
        "Barr, D. J., Levy, R., Scheepers, C., & Tily, H. J. (2013). Random effects structure for "
        "confirmatory hypothesis testing: Keep it maximal.",
        "Journal of Memory and Language, 68", ", 255–278.", "10.1016/j.jml.2012.11.001",
    ),
    "scandola": Citation(
        "Scandola, M., & Tidoni, E. (2024). Reliability and feasibility of linear mixed models in "
        "fully crossed experimental designs.",
        "Advances in Methods and Practices in Psychological Science, 7", "(1).",
        "10.1177/25152459231214454",
    ),
    "matuschek": Citation(
        "Matuschek, H., Kliegl, R., Vasishth, S., Baayen, H., & Bates, D. (2017). Balancing Type I "
        "error and power in linear mixed models.",
        "Journal of Memory and Language, 94", ", 305–315.", "10.1016/j.jml.2017.01.001",
    ),
    "satterthwaite": Citation(
        "Giesbrecht, F. G., & Burns, J. C. (1985). Two-stage analysis based on a mixed model: "
        "Large-sample asymptotic theory and small-sample simulation results.",
        "Biometrics, 41", ", 477–486.", "10.2307/2530872",
    ),
    "nakagawa": Citation(
        "Nakagawa, S., Johnson, P. C. D., & Schielzeth, H. (2017). The coefficient of "
        "determination "
        "R² and intra-class correlation coefficient from generalized linear mixed-effects models "
        "revisited and expanded.",
        "Journal of the Royal Society Interface, 14", ", 20170213.", "10.1098/rsif.2017.0213",
    ),
    "firth": Citation(
        "Firth, D. (1993). Bias reduction of maximum likelihood estimates.",
        "Biometrika, 80", ", 27–38.", "10.1093/biomet/80.1.27",
    ),
    "heinze": Citation(
        "Heinze, G., & Schemper, M. (2002). A solution to the problem of separation in logistic "
        "regression.",
        "Statistics in Medicine, 21", ", 2409–2419.", "10.1002/sim.1047",
    ),
    "gee": Citation(
        "Liang, K.-Y., & Zeger, S. L. (1986). Longitudinal data analysis using generalized linear "
        "models.",
        "Biometrika, 73", ", 13–22.", "10.1093/biomet/73.1.13",
    ),
    "mancl": Citation(
        "Mancl, L. A., & DeRouen, T. A. (2001). A covariance estimator for GEE with improved "
        "small-sample properties.",
        "Biometrics, 57", ", 126–134.", "10.1111/j.0006-341X.2001.00126.x",
    ),
    "van_selst": Citation(
        "Van Selst, M., & Jolicoeur, P. (1994). A solution to the effect of sample size on outlier "
        "elimination.",
        "The Quarterly Journal of Experimental Psychology, 47A", ", 631–650.",
        "10.1080/14640749408401131",
    ),
    "leys": Citation(
        "Leys, C., Ley, C., Klein, O., Bernard, P., & Licata, L. (2013). Detecting outliers: Do "
        "not "
        "use standard deviation around the mean, use absolute deviation around the median.",
        "Journal of Experimental Social Psychology, 49", ", 764–766.",
        "10.1016/j.jesp.2013.03.013",
    ),
}  # fmt: skip


def citations(analysis: Analysis) -> list[Citation]:
    """Return the references of what an analysis holds, in alphabetical order."""
    keys = dict.fromkeys(_used(analysis))
    return sorted(_SOURCES[key] for key in keys)


def _used(analysis: Analysis) -> Iterator[str]:
    if {"human", "robot"} & set(analysis.sources):
        yield "timing"
    yield from ("cousineau", "morey", "lakens")
    if analysis.inference is not None:
        yield from _of_inference(analysis)
    if analysis.sensitivity is not None and len(analysis.sensitivity):
        yield from ("van_selst", "leys")
    if analysis.distributions is not None:
        yield from ("vincentiles", "delta", "hohle")
    if analysis.speed_accuracy is not None:
        yield from ("bruyer", "woltz", "vandierendonck", "liesefeld", "ez")
    if analysis.sequences is not None:
        yield "practice"
        if analysis.sequences.effects["effect"].str.startswith("post_error").any():
            yield "post_error"
    if analysis.reliability is not None:
        yield from ("parsons", "pronk")
        if analysis.reliability.icc is not None:
            yield from ("mcgraw", "weir")
    if analysis.regression is not None:
        yield from _of_models(analysis)


def _of_inference(analysis: Analysis) -> Iterator[str]:
    found = analysis.inference
    if found is None:
        return
    if len(found.planned_contrasts):
        yield from ("cumming", "algina", "hedges", "rouder", "wilcoxon", "kerby")
        if analysis.settings.correction in _SOURCES:
            yield analysis.settings.correction
    if len(found.anova):
        yield from ("gg", "hf", "olejnik", "bakeman")


def _of_models(analysis: Analysis) -> Iterator[str]:
    if analysis.regression is None:
        return
    fits = analysis.regression.models
    fitted = fits[fits["fitted"].fillna(False)]
    if fitted["outcome"].isin(["log_rt", "inverse_rt"]).any():
        yield from ("lme4", "baayen", "barr", "matuschek", "satterthwaite")
    if fitted["formula"].str.contains("participant_id:", regex=False).any():
        yield "scandola"
    if fitted["r2_marginal"].notna().any():
        yield "nakagawa"
    if fitted["estimator"].fillna("").str.contains("penalty").any():
        yield from ("firth", "heinze")
    if (fitted["structure"] == "gee").any():
        yield from ("gee", "mancl")
