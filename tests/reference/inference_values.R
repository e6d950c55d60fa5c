# Reference values for the inference on cell means, from R's packages:
#   Rscript tests/reference/inference_values.R
# It draws simulated scores (no person's data), writes them to inference_scores.csv, and what R
# makes of them to inference_values.json, both beside this file. Versions stand in the JSON.
suppressPackageStartupMessages({
  library(afex)
  library(effectsize)
  library(BayesFactor)
  library(jsonlite)
})
arguments <- commandArgs(trailingOnly = FALSE)
folder <- dirname(sub("^--file=", "", grep("^--file=", arguments, value = TRUE)))

set.seed(20261130)
n <- 14
scores <- expand.grid(
  block_kind = c("pure", "mixed"),
  rule = c("direct", "exclusion", "mirror"),
  participant_id = sprintf("p%02d", seq_len(n)),
  stringsAsFactors = FALSE
)
person <- rnorm(n, 0, 0.25)
slope <- matrix(rnorm(n * 3, 0, c(0.02, 0.10, 0.30)), nrow = n, byrow = TRUE)
number <- as.integer(factor(scores$participant_id))
rule <- match(scores$rule, c("direct", "exclusion", "mirror"))
scores$score <- round(
  person[number] + c(0, 0.45, 0.25)[rule] + slope[cbind(number, rule)] +
    0.08 * (scores$block_kind == "mixed") + rnorm(nrow(scores), 0, 0.12),
  6
)
scores <- scores[, c("participant_id", "rule", "block_kind", "score")]
write.csv(scores, file.path(folder, "inference_scores.csv"), row.names = FALSE, quote = FALSE)

anova_of <- function(data, within) {
  fitted <- suppressWarnings(suppressMessages(
    aov_ez("participant_id", "score", data, within = within, include_aov = FALSE)
  ))
  shown <- suppressWarnings(suppressMessages(summary(fitted)))
  univariate <- unclass(shown$univariate.tests)
  exact <- anova(fitted, es = c("ges", "pes"), correction = "none")
  lapply(setdiff(rownames(univariate), "(Intercept)"), function(effect) {
    row <- list(
      effect = effect,
      f = univariate[effect, "F value"],
      df1 = univariate[effect, "num Df"],
      df2 = univariate[effect, "den Df"],
      p = univariate[effect, "Pr(>F)"],
      ss_effect = univariate[effect, "Sum Sq"],
      ss_error = univariate[effect, "Error SS"],
      generalized_eta2 = exact[effect, "ges"],
      partial_eta2 = exact[effect, "pes"]
    )
    adjusted <- unclass(shown$pval.adjustments)
    tested <- unclass(shown$sphericity.tests)
    if (effect %in% rownames(tested)) {
      row$mauchly_w <- tested[effect, "Test statistic"]
      row$mauchly_p <- tested[effect, "p-value"]
      row$epsilon_gg <- adjusted[effect, "GG eps"]
      row$p_gg <- adjusted[effect, "Pr(>F[GG])"]
      # Not cut at 1.
      row$epsilon_hf <- adjusted[effect, "HF eps"]
      row$p_hf <- adjusted[effect, "Pr(>F[HF])"]
    }
    row
  })
}

# Of orthonormal contrast scores as they are. Given a contrast matrix, mauchly.test, and car after it,
# put the number of levels for that of contrasts in one place of the second-order term (3 * p).
mauchly_p_of <- function(data) {
  wide <- xtabs(score ~ participant_id + paste(rule, block_kind), data)
  contrasts <- contr.helmert(ncol(wide))
  contrasts <- sweep(contrasts, 2, sqrt(colSums(contrasts^2)), "/")
  mauchly.test(lm(unclass(wide) %*% contrasts ~ 1))$p.value
}

cell <- function(rule, block_kind) {
  scores$score[scores$rule == rule & scores$block_kind == block_kind]
}
paired_of <- function(level, reference) {
  test <- t.test(level, reference, paired = TRUE)
  ranks <- wilcox.test(level, reference, paired = TRUE, exact = TRUE)
  z <- cohens_d(level, reference, paired = TRUE)
  g <- hedges_g(level, reference, paired = TRUE)
  # effectsize 0.8.3 has no average-SD effect yet: its definition.
  av <- mean(level - reference) / sqrt((var(level) + var(reference)) / 2)
  rank <- rank_biserial(level, reference, paired = TRUE)
  list(
    t = unname(test$statistic), p = test$p.value, conf = as.numeric(test$conf.int),
    dz = c(z$Cohens_d, z$CI_low, z$CI_high),
    gz = c(g$Hedges_g, g$CI_low, g$CI_high),
    dav = av,
    v = unname(ranks$statistic), wilcoxon_p = ranks$p.value,
    rank_biserial = rank$r_rank_biserial,
    log_bf10 = unname(log(extractBF(ttestBF(level, reference, paired = TRUE))$bf))
  )
}

tests <- expand.grid(
  t = c(0, -0.7, 2.5, 6, 12), n = c(3, 20, 400), r_scale = c(0.5, sqrt(2) / 2, 1)
)
tests$log_bf10 <- mapply(function(t, n, r_scale) {
  ttest.tstat(t, n, rscale = r_scale)[["bf"]]
}, tests$t, tests$n, tests$r_scale)

p <- c(0.012, 0.0004, NA, 0.2, 0.03, 0.9, 0.03)
methods <- c(bonferroni = "bonferroni", holm = "holm", fdr_bh = "BH", fdr_by = "BY")

version_of <- function(package) as.character(packageVersion(package))
values <- list(
  versions = c(
    list(R = as.character(getRversion())),
    sapply(c("afex", "car", "effectsize", "BayesFactor"), version_of, simplify = FALSE)
  ),
  anova = list(
    rule_by_block_kind = anova_of(scores, c("rule", "block_kind")),
    rule_in_mixed = anova_of(scores[scores$block_kind == "mixed", ], "rule"),
    # All six cells as levels of one factor: five degrees of freedom.
    six_levels = anova_of(
      transform(scores, rule = paste(rule, block_kind, sep = "-")), "rule"
    ),
    six_levels_mauchly_p = mauchly_p_of(scores)
  ),
  paired = list(
    exclusion_pure = paired_of(cell("exclusion", "pure"), cell("direct", "pure")),
    mirror_mixed = paired_of(cell("mirror", "mixed"), cell("direct", "mixed"))
  ),
  bayes_factors = tests,
  corrections = c(
    list(p = p),
    lapply(methods, function(method) p.adjust(p, method))
  )
)
write_json(
  values, file.path(folder, "inference_values.json"),
  auto_unbox = TRUE, digits = NA, pretty = TRUE, na = "null"
)
