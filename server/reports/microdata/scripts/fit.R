# Logistic regression of the answer behind the reports of a column, on the largest strata; with base R alone:
#
#     Rscript fit.R                    of the column below
#     Rscript fit.R COLUMN             of another one whose reports are 0 and 1
#     Rscript fit.R COLUMN WEIGHTS     rows count by WEIGHTS: a column of numbers above 0 that was added to
#                                      responses.csv, or `responses`: each row the same
#
# A report of 1 comes from an answer of 1 with the chance `high`, and from any other with the chance `low`: both are in
# codebook.csv, for each version. So the chance of a report of 1 is low + (high - low) times the logistic curve, which
# is a link of its own for glm.
#
# Unless WEIGHTS says otherwise, strata count by their populations where strata.csv has that of each smallest one and
# rows name them all. Standard errors of rows that count differently are by how people vary inside each stratum (the
# sandwich of Binder 1983, corrected where a coefficient hangs on a few, Bell and McCaffrey 2002); never below what the
# likelihood says.
#
# Not fitted here: an answer to another question as a predictor, whose own coins have to be taken into account, weeks,
# clusters, and strata that a report takes together. Where the survey is, `python -m server estimate SLUG --explain
# COLUMN --by QUESTION` does it. From a table to which columns were added, with the survey's study file,
# `python -m server analyse` does with `--explain`, but for weeks. The notebook beside this file has each answer by
# itself, and no regression.

words <- commandArgs(trailingOnly = TRUE)
column <- if (length(words)) words[1] else "<column>"
weights_by <- if (length(words) > 1) words[2] else ""
read_table <- function(name) {
  read.csv(name, colClasses = "character", check.names = FALSE, na.strings = character(0), encoding = "UTF-8")
}
codebook <- read_table("codebook.csv")
codebook <- codebook[codebook$column == column & codebook$pooled == "true" & codebook$code == "1", ]
if (!nrow(codebook) || any(table(codebook$version) != 2)) {
  stop(column, " is no column of codebook.csv whose reports are 0 and 1")
}
chance <- matrix(as.numeric(codebook$numerator) / as.numeric(codebook$denominator), nrow = 2)
rows <- read_table("responses.csv")
weight <- rep(1, nrow(rows))
if (!weights_by %in% c("", "responses")) {
  if (is.null(rows[[weights_by]])) stop(weights_by, " is no column of responses.csv")
  weight <- suppressWarnings(as.numeric(rows[[weights_by]]))
  wrong <- which(is.na(weight) | weight < 1e-6 | weight > 1e6)
  if (length(wrong)) {
    stop("responses.csv, row ", wrong[1] + 1, ", column ", weights_by, ": must be a number from 0.000001 to 1000000; ",
         "it is '", rows[[weights_by]][wrong[1]], "'")
  }
}
version <- match(rows$version, unique(codebook$version))
rows <- data.frame(
  report = as.integer(rows[[column]]), stratum = if (is.null(rows$stratum)) "" else rows$stratum,
  low = chance[1, version], high = chance[2, version], weight = weight
)[!is.na(version), ]
tree <- if (file.exists("strata.csv")) read_table("strata.csv") else NULL
leaves <- tree[tree$leaf == "true", ]
by_population <- weights_by == "" && NROW(leaves) > 0 && all(leaves$population != "" & leaves$named == "true") &&
  all(leaves$stratum %in% rows$stratum)
unit <- rep(1, nrow(rows))
if (by_population) {
  rows <- rows[rows$stratum %in% leaves$stratum, ]
  unit <- match(rows$stratum, leaves$stratum)
  rows$weight <- (as.numeric(leaves$population) / tabulate(unit, nrow(leaves)))[unit]
}
rows$weight <- rows$weight * nrow(rows) / sum(rows$weight)
inside <- function(path, other) path == other | startsWith(path, paste0(other, " > "))
largest <- Filter(function(path) sum(inside(path, tree$stratum)) == 1, tree$stratum)
level <- rep(if (is.null(tree)) "all" else "(others)", nrow(rows))
for (top in largest) level[inside(rows$stratum, top)] <- top
rows$level <- droplevels(factor(level, c(largest, "(others)", "all")))
several <- nlevels(rows$level) > 1

# The fit, in six lines.
coins <- structure(list(
  linkfun = function(mu) qlogis(pmin(pmax((mu - rows$low) / (rows$high - rows$low), 1e-9), 1 - 1e-9)),
  linkinv = function(eta) rows$low + (rows$high - rows$low) * plogis(eta),
  mu.eta = function(eta) (rows$high - rows$low) * dlogis(eta),
  valideta = function(eta) TRUE, name = "coins"), class = "link-glm")
fit <- glm(if (several) report ~ level else report ~ 1, quasibinomial(coins), rows, weights = weight,
           etastart = 0 * rows$low, control = list(epsilon = 1e-14, maxit = 100))

if (!(fit$converged && max(abs(coef(fit))) < 20)) {
  stop("The responses leave a coefficient without an end: these numbers are none. Use estimate --explain.")
}
x <- model.matrix(fit)
p <- fitted(fit)
slope <- coins$mu.eta(fit$linear.predictors)
pull <- (rows$report - p) / (p * (1 - p))
observed <- rows$weight * (pull^2 * slope^2 - pull * slope * (1 - 2 * plogis(fit$linear.predictors)))
bread <- solve(t(x) %*% (x * observed))
errors <- sqrt(diag(bread))
if (by_population || !weights_by %in% c("", "responses")) {
  # The sandwich: of scores around the means of their strata.
  size <- tabulate(unit)
  if (min(size) < 2) {
    stop("A stratum has a single response: how people vary inside it is not known. Use estimate --explain.")
  }
  take_apart <- function(numbers) {
    means <- rowsum(numbers, unit)[as.character(unit), , drop = FALSE] / size[unit]
    (size / (size - 1))[unit] * (numbers - means)
  }
  score <- x * (pull * slope)
  pulls <- score * rows$weight
  drawn <- diag(bread %*% t(take_apart(pulls)) %*% pulls %*% bread)
  for (place in seq_along(errors)) {
    towards <- drop(pulls %*% bread[place, ])
    once <- towards * (score %*% bread)
    twice <- towards * pulls
    total <- sum(towards^2)
    left <- total - 2 * sum(take_apart(twice) * once) +
      sum((t(pulls) %*% pulls) * (t(take_apart(once)) %*% once))
    errors[place] <- sqrt(max(drawn[place] * max(total / max(left, total / 1e6), 1), bread[place, place]))
  }
}
cat("rows count by: ", if (by_population) "population" else if (weights_by == "") "responses" else weights_by, "\n",
    sep = "")
names <- levels(rows$level)
cat(sprintf("%s\t%.12g\t%.12g\n", c(paste0("(intercept: ", names[1], ")"), names[-1]), coef(fit), errors), sep = "")
