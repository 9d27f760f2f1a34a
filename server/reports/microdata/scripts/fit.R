# Logistic regression of the answer behind the reports of a column, on strata; with base R alone:
#
#     Rscript fit.R            of the column below
#     Rscript fit.R COLUMN     of another one whose reports are 0 and 1
#
# A report of 1 comes from an answer of 1 with the chance `high`, and from any other with the chance `low`: both are in
# codebook.csv, for each version. So the chance of a report of 1 is low + (high - low) times the logistic curve, which
# is a link of its own for glm.
#
# Not fitted here: an answer to another question as a predictor, whose own coins have to be taken into account, weeks, and
# weights: rows have none, and each counts the same, whatever the population of its stratum. Where the survey is,
# `python -m server estimate SLUG --explain COLUMN --by QUESTION` does the first two. From a table to which a column of
# weights was added, with the survey's study file, `python -m server analyse` with `--explain` does the first and the
# last. The notebook beside this file has each answer by itself, and no regression.

words <- commandArgs(trailingOnly = TRUE)
column <- if (length(words)) words[1] else "<column>"
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
version <- match(rows$version, unique(codebook$version))
rows <- data.frame(
  report = as.integer(rows[[column]]), stratum = if (is.null(rows$stratum)) "" else rows$stratum,
  low = chance[1, version], high = chance[2, version]
)[!is.na(version), ]
several <- length(unique(rows$stratum)) > 1

# The fit, in six lines.
coins <- structure(list(
  linkfun = function(mu) qlogis(pmin(pmax((mu - rows$low) / (rows$high - rows$low), 1e-9), 1 - 1e-9)),
  linkinv = function(eta) rows$low + (rows$high - rows$low) * plogis(eta),
  mu.eta = function(eta) (rows$high - rows$low) * dlogis(eta),
  valideta = function(eta) TRUE, name = "coins"), class = "link-glm")
fit <- glm(if (several) report ~ stratum else report ~ 1, binomial(coins), rows, etastart = 0 * rows$low,
           control = list(epsilon = 1e-14, maxit = 100))

if (!(fit$converged && max(abs(coef(fit))) < 20)) {
  stop("The responses leave a coefficient without an end: these numbers are none. Use estimate --explain.")
}
print(summary(fit)$coefficients[, 1:2, drop = FALSE], digits = 12)
