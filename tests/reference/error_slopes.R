# Reference values for test_error_slopes.py, made with R; run in this folder: Rscript error_slopes.R
#
# The data are simulated here (nobody's trials) and kept as counts in error_slopes_counts.csv; what
# R makes of them is kept in error_slopes.csv, whose first rows say which versions made it.

suppressPackageStartupMessages(library(lme4))

set.seed(20261203, kind = "Mersenne-Twister", normal.kind = "Inversion")
n_people <- 18
cells <- expand.grid(
  rule = c("direct", "exclusion"),
  block_kind = c("mixed", "pure"),
  participant = sprintf("s%02d", seq_len(n_people)),
  stringsAsFactors = FALSE
)
exclusion <- as.numeric(cells$rule == "exclusion")
pure <- as.numeric(cells$block_kind == "pure")
person <- as.integer(factor(cells$participant))
of_rule <- matrix(rnorm(2 * n_people, 0, 0.6), n_people)
of_block_kind <- matrix(rnorm(2 * n_people, 0, 0.5), n_people)
odds <- -1.2 + 0.5 * exclusion - 0.6 * pure + 0.3 * exclusion * pure +
  rnorm(n_people, 0, 0.7)[person] + of_rule[cbind(person, 1 + exclusion)] +
  of_block_kind[cbind(person, 1 + pure)] + rnorm(nrow(cells), 0, 0.4)
# Cells differ in their trials, and one person has none in one of them.
cells$n_trials <- sample(25:60, nrow(cells), replace = TRUE)
cells$n_trials[7] <- 0
cells$n_errors <- rbinom(nrow(cells), cells$n_trials, plogis(odds))
counts <- cells[c("participant", "rule", "block_kind", "n_trials", "n_errors")]
write.csv(counts, "error_slopes_counts.csv", row.names = FALSE, quote = FALSE)

counts <- read.csv("error_slopes_counts.csv")
trials <- counts[rep(seq_len(nrow(counts)), counts$n_trials), ]
trials$error <- unlist(mapply(
  function(n, wrong) as.integer(seq_len(n) <= wrong), counts$n_trials, counts$n_errors
))
trials$exclusion <- as.numeric(trials$rule == "exclusion")
trials$pure <- as.numeric(trials$block_kind == "pure")
trials$both <- trials$exclusion * trials$pure

values <- data.frame(
  model = "versions",
  quantity = c("R", "lme4"),
  term = "",
  value = c(as.character(getRversion()), as.character(packageVersion("lme4")))
)
keep <- function(model, quantity, term, value) {
  values <<- rbind(values, data.frame(
    model = model, quantity = quantity, term = term, value = sprintf("%.10g", value)
  ))
}

logit <- function(name, formula, data) {
  fit <- glmer(formula, data, family = binomial, control = glmerControl(
    optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5), tolPwrss = 1e-13
  ))
  table <- summary(fit)$coefficients
  for (term in rownames(table)) {
    keep(name, "estimate", term, table[term, "Estimate"])
    keep(name, "se", term, table[term, "Std. Error"])
  }
  spread <- as.data.frame(VarCorr(fit))
  for (i in seq_len(nrow(spread))) keep(name, "sdcor", spread$grp[i], spread$sdcor[i])
  keep(name, "loglik", "", as.numeric(logLik(fit)))
  keep(name, "aic", "", AIC(fit))
  keep(name, "bic", "", BIC(fit))
}

every <- error ~ exclusion + pure + both + (1 | participant) + (1 | participant:rule) +
  (1 | participant:block_kind) + (1 | participant:rule:block_kind)
logit("both_factors", every, trials)
logit("one_factor", error ~ exclusion + (1 | participant) + (1 | participant:rule), trials)
# Of these people the variance of some effects is estimated as 0.
logit("some_at_zero", every, trials[trials$participant <= "s06", ])

write.csv(values, "error_slopes.csv", row.names = FALSE)
