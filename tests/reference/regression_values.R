# Reference values for test_regression.py, made with R; run in this folder: Rscript regression_values.R
#
# The data are simulated here (nobody's trials) and kept in regression_trials.csv; what R makes of
# them is kept in regression_values.csv, whose first rows say which versions made it.

suppressPackageStartupMessages({
  library(lme4)
  library(lmerTest)
  library(geepack)
})

set.seed(20261130, kind = "Mersenne-Twister", normal.kind = "Inversion")
n_people <- 14
cells <- expand.grid(
  repetition = 1:4,
  target = c("ghost", "chair", "bottle", "book", "mouse"),
  rule = c("direct", "exclusion"),
  block_kind = c("mixed", "pure"),
  participant = sprintf("s%02d", seq_len(n_people)),
  stringsAsFactors = FALSE
)
level <- rnorm(n_people, 0, 0.25)
slope <- 0.5 * level + rnorm(n_people, 0, 0.12)
item <- c(ghost = -0.08, chair = 0.05, bottle = 0.1, book = -0.02, mouse = -0.05)
person <- as.integer(factor(cells$participant))
exclusion <- as.numeric(cells$rule == "exclusion")
pure <- as.numeric(cells$block_kind == "pure")
residual <- rnorm(nrow(cells), 0, 0.35)
tendency <- rnorm(n_people, 0, 0.5)
odds <- -1.9 - 0.4 * exclusion - 0.7 * pure + 0.8 * exclusion * pure + tendency[person]
cells$error <- as.integer(runif(nrow(cells)) < plogis(odds))
of_pure <- rnorm(n_people, 0, 0.2) - 0.3 * level
of_both <- rnorm(n_people, 0, 0.3)
log_rt <- 0.05 + 0.5 * exclusion - 0.1 * pure - 0.15 * exclusion * pure + level[person] +
  slope[person] * exclusion + of_pure[person] * pure + of_both[person] * exclusion * pure +
  item[cells$target] + residual
cells$rt_s <- round(exp(log_rt), 4)
trials <- cells[c("participant", "target", "rule", "block_kind", "rt_s", "error")]
write.csv(trials, "regression_trials.csv", row.names = FALSE, quote = FALSE)

trials <- read.csv("regression_trials.csv")
trials$exclusion <- as.numeric(trials$rule == "exclusion")
trials$pure <- as.numeric(trials$block_kind == "pure")
trials$both <- trials$exclusion * trials$pure
correct <- trials[trials$error == 0, ]

values <- data.frame(
  model = "versions",
  quantity = c("R", "lme4", "lmerTest", "geepack"),
  term = "",
  value = c(
    as.character(getRversion()), as.character(packageVersion("lme4")),
    as.character(packageVersion("lmerTest")), as.character(packageVersion("geepack"))
  )
)
keep <- function(model, quantity, term, value) {
  values <<- rbind(values, data.frame(
    model = model, quantity = quantity, term = term, value = sprintf("%.10g", value)
  ))
}

linear <- function(name, formula, data = correct) {
  fit <- lmer(formula, data, REML = TRUE, control = lmerControl(
    optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5)
  ))
  table <- summary(fit, ddf = "Satterthwaite")$coefficients
  for (term in rownames(table)) {
    keep(name, "estimate", term, table[term, "Estimate"])
    keep(name, "se", term, table[term, "Std. Error"])
    keep(name, "df", term, table[term, "df"])
    keep(name, "p", term, table[term, "Pr(>|t|)"])
  }
  spread <- as.data.frame(VarCorr(fit))
  for (i in seq_len(nrow(spread))) {
    with_term <- if (is.na(spread$var2[i])) "" else paste0("~", spread$var2[i])
    group <- sub("[.][0-9]+$", "", spread$grp[i])
    keep(name, "sdcor", paste0(group, ":", spread$var1[i], with_term), spread$sdcor[i])
  }
  keep(name, "loglik", "", as.numeric(logLik(fit)))
  keep(name, "aic", "", AIC(fit))
  keep(name, "bic", "", BIC(fit))
}

linear("crossed_intercepts", log(rt_s) ~ exclusion + pure + both + (1 | participant) + (1 | target))
linear("crossed_slopes",
       log(rt_s) ~ exclusion + pure + both + (1 + exclusion + pure + both | participant) +
         (1 | target))
linear("crossed_slopes_uncorrelated",
       log(rt_s) ~ exclusion + pure + both + (1 | participant) + (1 | participant:rule) +
         (1 | participant:block_kind) + (1 | participant:rule:block_kind) + (1 | target))
linear("crossed_inverse", -1 / rt_s ~ exclusion + pure + both + (1 | participant) + (1 | target))
linear("single_intercepts", log(rt_s) ~ exclusion + pure + both + (1 | participant))
linear("single_slopes",
       log(rt_s) ~ exclusion + pure + both + (1 + exclusion + pure + both | participant))
linear("single_slopes_uncorrelated",
       log(rt_s) ~ exclusion + pure + both + (1 | participant) + (1 | participant:rule) +
         (1 | participant:block_kind) + (1 | participant:rule:block_kind))

logit <- glmer(error ~ exclusion + pure + both + (1 | participant), trials, family = binomial,
               control = glmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9),
                                     tolPwrss = 1e-12))
table <- summary(logit)$coefficients
for (term in rownames(table)) {
  keep("mixed_logit", "estimate", term, table[term, "Estimate"])
  keep("mixed_logit", "se", term, table[term, "Std. Error"])
}
keep("mixed_logit", "sdcor", "participant:(Intercept)", as.data.frame(VarCorr(logit))$sdcor[1])
keep("mixed_logit", "loglik", "", as.numeric(logLik(logit)))
keep("mixed_logit", "aic", "", AIC(logit))

trials$participant <- factor(trials$participant)
gee <- geeglm(error ~ exclusion + pure + both, id = participant, data = trials,
              family = binomial, corstr = "exchangeable")
for (term in names(coef(gee))) keep("gee", "estimate", term, coef(gee)[[term]])
keep("gee", "correlation", "", gee$geese$alpha[[1]])
for (i in seq_along(coef(gee))) {
  keep("gee", "robust_se", names(coef(gee))[i], sqrt(diag(vcov(gee)))[[i]])
}

write.csv(values, "regression_values.csv", row.names = FALSE)
