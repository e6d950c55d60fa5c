# What base R does for the same work. Prints one line of JSON, as the other programs do.
words <- commandArgs(trailingOnly = TRUE)
task <- words[1]
folder <- words[2]
n_times <- as.integer(words[3])
n_splits <- as.integer(words[4])

read <- function(name) {
  read.csv(file.path(folder, name), colClasses = c(participant_id = "character"),
           stringsAsFactors = FALSE)
}

descriptives <- function() {
  table <- read("rts.csv")
  function() {
    found <- aggregate(table$rt_s, table[c("participant_id", "rule", "block_kind")],
                       function(x) c(length(x), mean(x), median(x), sd(x)))
    colSums(found$x)
  }
}

anova_of_cells <- function() {
  cells <- read("cells.csv")
  for (name in c("participant_id", "rule", "block_kind")) cells[[name]] <- factor(cells[[name]])
  function() {
    fit <- summary(aov(mean_rt_s ~ rule * block_kind + Error(participant_id / (rule * block_kind)),
                       data = cells))
    strata <- paste0("Error: participant_id:", c("rule", "block_kind", "rule:block_kind"))
    vapply(strata, function(name) fit[[name]][[1]][["F value"]][1], numeric(1))
  }
}

# Each participant's RTs of a rule are put in random order; every second one is in one half.
split_half <- function() {
  table <- read("few-rts.csv")
  table <- table[order(table$participant_id, table$rule), ]
  group <- as.integer(factor(paste(table$participant_id, table$rule)))
  n_groups <- max(group)
  first <- match(seq_len(n_groups), group)
  is_exclusion <- table$rule[first] == "exclusion"
  n <- nrow(table)
  half <- 2L * group - (seq_len(n) - first[group]) %% 2L
  counts <- tabulate(half, 2L * n_groups)
  function() {
    r <- numeric(n_splits)
    for (split in seq_len(n_splits)) {
      shuffled <- order(group, runif(n))
      means <- matrix(rowsum(table$rt_s[shuffled], half)[, 1] / counts, nrow = 2)
      effects <- means[, is_exclusion] - means[, !is_exclusion]
      r[split] <- cor(effects[1, ], effects[2, ])
    }
    mean(r)
  }
}

set.seed(1)
work <- switch(task, descriptives = descriptives(), anova = anova_of_cells(),
               split_half = split_half())
if (task != "split_half") figures <- work()
seconds <- numeric(n_times)
for (time in seq_len(n_times)) {
  begun <- proc.time()[["elapsed"]]
  figures <- work()
  seconds[time] <- proc.time()[["elapsed"]] - begun
}
numbers <- function(x) paste0("[", paste(format(x, digits = 17), collapse = ", "), "]")
cat(sprintf('{"seconds": %s, "figures": %s, "n_splits": %d, "version": "%s"}\n', numbers(seconds),
            numbers(figures), n_splits, paste(R.version$major, R.version$minor, sep = ".")))
