# Reference values of test_reliability.py: intraclass correlations of R's psych, and variance
# components by analysis of variance. Run as: Rscript reliability.R > reliability.json
suppressMessages({
  library(psych)
  library(jsonlite)
})

shrout_fleiss <- matrix(
  c(9, 2, 5, 8, 6, 1, 3, 2, 8, 4, 6, 8, 7, 1, 2, 6, 10, 5, 6, 9, 6, 2, 4, 7),
  ncol = 4, byrow = TRUE
)
set.seed(20261130)
people <- rnorm(14, 1.2, 0.25)
three_sessions <- round(
  outer(people, c(0, -0.1, -0.15), "+") + matrix(rnorm(14 * 3, 0, 0.1), 14), 4
)
unreliable <- round(matrix(rnorm(16, 0.6, 0.2), 8), 4)

example <- function(scores, confidence) {
  # lmer = FALSE: by analysis of variance, as Shrout and Fleiss do.
  found <- ICC(scores, lmer = FALSE, alpha = 1 - confidence)$results
  long <- data.frame(
    score = as.vector(scores),
    person = factor(rep(seq_len(nrow(scores)), ncol(scores))),
    session = factor(rep(seq_len(ncol(scores)), each = nrow(scores)))
  )
  ms <- summary(aov(score ~ person + session, long))[[1]][["Mean Sq"]]
  list(
    scores = scores,
    confidence = confidence,
    icc = data.frame(
      type = found$type, ICC = found$ICC, F = found$F, df1 = found$df1, df2 = found$df2,
      p = found$p, low = found[["lower bound"]], high = found[["upper bound"]]
    ),
    variance = list(sessions = (ms[2] - ms[3]) / nrow(scores), residual = ms[3])
  )
}

cat(toJSON(
  list(
    made_by = "reliability.R",
    r = R.version.string,
    psych = as.character(packageVersion("psych")),
    examples = list(
      shrout_fleiss = example(shrout_fleiss, 0.95),
      three_sessions = example(three_sessions, 0.9),
      unreliable = example(unreliable, 0.95)
    )
  ),
  digits = NA, auto_unbox = TRUE, pretty = TRUE
), "\n")
