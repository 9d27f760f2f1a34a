# Recompute the estimates of the report from the noisy responses; with base R alone. In the folder of the files:
#
#     Rscript estimate.R            prints the estimates
#     Rscript estimate.R csv        prints them as CSV, with all their digits
#     Rscript estimate.R compare    compares them with estimates.csv
#
# Reports are what arrived after the coins. The chances with which a true answer becomes a report are
# the design, in codebook.csv. The estimated share of a true answer is a weighted mean of the shares
# of the reports, and its weights are a row of the inverse of the design.
#
# Not recomputed: numbers weighted with strata that are taken together or not used, and strata that no row names.

confidence <- 0.95
z <- qnorm((1 + confidence) / 2)
room <- log(2 / (1 - confidence))
few <- 100 # with fewer reports in some part, intervals are exact
keys <- c("question", "answer", "statistic", "group", "stratum", "weighting")
no_stratum <- "<without stratum>" # those of "<withheld>" are in no group but that of all
numbers <- c("n", "estimate", "standard_error", "interval_low", "interval_high")

# --- Estimates: every one is a weighted mean, over the parts, of a number for each report ---------------------
# A part: what it counts (weight), its design (truths x reports) and the inverse of that, how often each report arrived.

added <- function(parts, rows, of) sum(mapply(of, parts, rows))

summed <- function(parts, rows) {
  added(parts, rows, function(part, row) part$weight * sum(row * part$counts) / sum(part$counts))
}

standard_error <- function(parts, rows) {
  variance <- added(parts, rows, function(part, row) {
    n <- sum(part$counts)
    if (n == 1) return(Inf)
    part$weight^2 * sum(part$counts * (row - sum(row * part$counts) / n)^2) / (n - 1) / n
  })
  if (variance > 1e-24) sqrt(variance) else Inf  # of reports that are alike nothing is known
}

# Exact ones of few reports, where `counted` is what the truths count; else those of the parts, added: their
# distances from the estimates weighted, squared, added (Zou and Donner 2008).
limits <- function(parts, rows, counted = NULL) {
  if (!is.null(counted) && are_few(parts)) return(exact_limits(parts, rows, counted))
  distances <- mapply(function(part, row) {
    part$weight * (score_limits(row, part$counts) - sum(row * part$counts) / sum(part$counts))
  }, parts, rows)
  summed(parts, rows) + c(-1, 1) * sqrt(rowSums(distances^2))
}

# Where the score test accepts: Wilson (1927) if `row` has two values, else as Tango (1998).
score_limits <- function(row, counts) {
  bottom <- min(row)
  width <- max(row) - bottom
  if (width == 0) return(c(bottom, bottom))
  scaled <- (row - bottom) / width
  scaled[scaled < 1e-9] <- 0
  scaled[scaled > 1 - 1e-9] <- 1
  if (all(scaled %in% 0:1)) {
    n <- sum(counts)
    mean <- sum(scaled * counts) / n
    half <- z * sqrt(mean * (1 - mean) / n + z^2 / (4 * n^2))
    return(bottom + width * (mean + z^2 / (2 * n) + c(-half, half)) / (1 + z^2 / n))
  }
  bottom + width * c(1 - upper(1 - scaled, counts), upper(scaled, counts))
}

# The largest accepted mean. The likeliest shares with a mean are observed / (1 - value + w value).
upper <- function(row, counts) {
  n <- sum(counts)
  values <- row[counts > 0]
  observed <- counts[counts > 0] / n
  mean <- sum(values * observed)
  if (mean >= 1) return(1)
  tilted <- function(w) {
    likely <- observed / (1 - values + w * values)
    likely <- likely / sum(likely)
    centre <- sum(likely * values)
    c(centre, n * (centre - mean)^2 - z^2 * sum(likely * (values - centre)^2))
  }
  if (max(values) < 1 && (diff(range(values)) < 1e-9 || tilted(0)[2] <= 0)) return((mean + z^2 / n) / (1 + z^2 / n))
  far <- 1
  while (tilted(exp(-far))[2] <= 0) far <- 2 * far
  tilted(exp(-crossing(function(u) -tilted(exp(-u))[2], 0, far)))[1]
}

# Where a function that is positive at one end and negative at the other is 0.
crossing <- function(f, start, end) uniroot(f, sort(c(start, end)), tol = 1e-15)$root

# --- Exact limits: each is exceeded with a chance of (1 - confidence) / 2 at most, whatever is true ------------

sizes_of <- function(parts) sapply(parts, function(part) sum(part$counts))
weights_of <- function(parts) sapply(parts, function(part) part$weight)
are_few <- function(parts) min(sizes_of(parts)) < few
span <- function(row) max(row) - min(row)

exact_limits <- function(parts, rows, counted) {
  if (all(sapply(rows, function(row) all(round((row - min(row)) / max(span(row), 1e-300), 9) %in% 0:1)))) {
    return(two_valued_limits(parts, rows))
  }
  ends <- sapply(c(1, -1), function(side) {
    side * lowest_of_designs(parts, lapply(rows, function(row) side * row), side * counted)
  })
  value <- summed(parts, rows)
  c(min(ends[1], value), max(ends[2], value))
}

# Each part adds a share of its reach: of one part Blaker's limits, of alike reports Clopper and Pearson's.
two_valued_limits <- function(parts, rows) {
  n <- sizes_of(parts)
  reach <- weights_of(parts) * sapply(rows, span)
  base <- sum(weights_of(parts) * sapply(rows, min))
  yes <- mapply(function(part, row) sum(part$counts[row - min(row) > span(row) / 2]), parts, rows)
  some <- reach > 0
  if (!any(some)) return(c(base, base))
  n <- n[some]
  yes <- yes[some]
  reach <- reach[some]
  both <- function(lower, yes, n) c(lower(yes, n), 1 - lower(n - yes, n))
  if (length(parts) == 1) return(base + reach * both(blaker, yes, n))
  rate <- reach / n
  if (span(rate) <= 1e-9 * max(rate) && confidence >= 0.8) {
    return(base + sum(reach) * both(clopper_pearson, sum(yes), sum(n)))
  }
  base + c(lowest_of_shares(n, reach, yes / n), sum(reach) - lowest_of_shares(n, reach, 1 - yes / n))
}

# Their lower limit (1934).
clopper_pearson <- function(yes, n) if (yes == 0) 0 else qbeta((1 - confidence) / 2, yes, n - yes + 1)

# The smallest share at which the smaller tail and the largest opposite one not larger exceed what may miss (2000).
# The opposite tail is that of `opposite` or fewer; where it gains its next count, both are equal.
blaker <- function(yes, n) {
  if (yes == 0) return(0)
  miss <- 1 - confidence
  above <- function(share) pbinom(yes - 1, n, share, lower.tail = FALSE)
  nearest <- clopper_pearson(yes, n)
  opposite <- sum(pbinom(0:(yes - 1), n, nearest) <= miss / 2) - 1
  rise <- function(f, start, end) {
    if (f(start) >= 0) return(start)
    if (f(end) <= 0) return(end)
    crossing(f, start, end)
  }
  gain <- rise(function(share) above(share) - pbinom(opposite + 1, n, share), nearest, qbeta(0.5, yes, n - yes + 1))
  rise(function(share) above(share) + pbinom(opposite, n, share) - miss, nearest, gain)
}

# Whatever the true shares of a part are, its reports are a mixture of the rows of its design.
lowest_of_designs <- function(parts, rows, counted) {
  n <- sizes_of(parts)
  weights <- weights_of(parts)
  points <- sort(unique(counted))
  keys <- sapply(parts, function(part) paste(part$design * 2^32, collapse = " "))
  # The largest logarithms of the mean of exp(tilt weight value / n) of truths that count each point.
  heights <- function(tilt) {
    found <- matrix(0, length(parts), length(points))
    for (own in split(seq_along(parts), keys)) {
      first <- own[1]
      means <- log(exp(outer(tilt * weights[own] / n[own], rows[[first]])) %*% t(parts[[first]]$design))
      found[own, ] <- sapply(points, function(point) do.call(pmax, as.data.frame(means[, counted == point, drop = FALSE])))
    }
    found
  }
  rate <- weights / n * sapply(rows, span)
  top <- 300 / max(rate)
  bottom <- min(0.05 * sqrt(2 * room / sum(rate^2 * n)), top / 2)
  best_of_tilts(n, outer(weights, points), heights, summed(parts, rows), c(bottom, top), 3)
}

# Whatever the shares of the reports are.
lowest_of_shares <- function(n, reach, shares) {
  seen <- sum(reach * shares)
  if (seen <= 0) return(0)
  widest <- sqrt(2 * room / (0.25 * sum(reach^2 / n)))
  points <- cbind(0, reach)
  ends <- c(0.2 * widest, max(300 / max(reach / n), widest))
  best_of_tilts(n, points, function(tilt) tilt * points / n, seen, ends, 2)
}

# The largest sum below which Chernoff's bound (1952) refutes all, at the best of many tilts. What is refuted rises up
# to one tilt and falls behind it: of 24 few have to be tried.
best_of_tilts <- function(n, points, heights, seen, ends, rounds) {
  best <- sum(points[, 1])
  for (round in seq_len(rounds)) {
    tilts <- exp(seq(log(ends[1]), log(ends[2]), length.out = 24))
    found <- rep(-Inf, 24)
    place <- 12
    for (around in list(c(-6, 0, 6, 12), c(-3, 3), c(-2, -1, 1, 2))) {
      tried <- unique(pmin(pmax(place + around, 1), 24))
      found[tried] <- sapply(tilts[tried], function(tilt) refute_sums(n, points, heights(tilt), tilt * seen - room))
      place <- which.max(found)
    }
    best <- max(best, found[place])
    ends <- tilts[c(max(place - 1, 1), min(place + 1, 24))]
  }
  best
}

# The sum of the points up to which n log(envelope of exp(heights)) adds up to what is allowed at most. An envelope
# is linear between some of its points; along such a piece the logarithm rises with that of one over the
# logarithms' slope, `level`, which all parts share. Where nothing is refuted, what is lacking is taken off.
refute_sums <- function(n, points, heights, allowed) {
  here <- rep(1, length(n))
  pieces <- NULL
  for (piece in seq_len(ncol(points) - 1)) {
    at <- cbind(seq_along(n), here)
    rise <- heights - heights[at]
    width <- points - points[at]
    slopes <- ifelse(rise > 0 & col(points) > here, rise + log(-expm1(-rise) / width), -Inf)
    steepest <- max.col(slopes, ties.method = "first")
    to <- cbind(seq_along(n), steepest)
    some <- slopes[to] > -Inf
    pieces <- rbind(pieces, cbind(-slopes[to] - log(n), rise[to], width[to], n)[some, , drop = FALSE])
    here <- ifelse(some, steepest, here)
  }
  least <- sum(points[, 1])
  free <- allowed - sum(n * heights[, 1])
  if (free <= 0 || !nrow(pieces)) return(least + min(free, 0))
  start <- pieces[, 1]
  rise <- pieces[, 2]
  breaks <- c(start, start + rise)
  order <- order(breaks)
  breaks <- breaks[order]
  filled <- c(0, cumsum(head(cumsum(c(pieces[, 4], -pieces[, 4])[order]), -1) * diff(breaks)))
  level <- approx(filled, breaks, free, rule = 2, ties = "ordered")$y
  risen <- pmin(pmax(level - start, 0), rise)
  least + sum(pieces[, 3] * exp(risen - rise) * expm1(-risen) / expm1(-rise))
}

# Of 201 means those that are refuted at no tilt, and a step more: the sum of distances from the true one is 0.
ratio_limits <- function(part, positions, answered) {
  n <- sum(part$counts)
  scales <- exp(seq(log(min(0.05 * sqrt(2 * room * n), 150 * n)), log(300 * n), length.out = 48))
  accepted <- sapply(0:200, function(step) {
    away <- positions - step / 200 * answered
    seen <- sum(away * part$counts) / n
    if (seen <= 0) away <- -away
    tilts <- scales / span(away)
    tall <- exp(outer(tilts / n, away)) %*% t(part$design)
    counted <- drop(part$design %*% away)
    highest <- 0
    for (one in which(counted <= 1e-12)) {
      for (other in which(counted >= -1e-12)) {
        width <- counted[other] - counted[one]
        between <- min(max(-counted[one] / (if (width > 1e-12) width else 1), 0), 1)
        highest <- pmax(highest, tall[, one] * (1 - between) + tall[, other] * between)
      }
    }
    allowed <- tilts * abs(seen) - room
    !any(allowed > 0 & n * log(highest) < allowed)
  })
  if (!any(accepted)) return(c(0, 1))
  steps <- range(which(accepted)) - 1
  c(max(steps[1] - 1, 0), min(steps[2] + 1, 200)) / 200
}

# --- What is estimated ---------------------------------------------------------------------------------------

share <- function(parts, truth) {
  rows <- lapply(parts, function(part) part$inverse[truth, ])
  counted <- as.numeric(seq_len(nrow(parts[[1]]$inverse)) == truth)
  c(summed(parts, rows), standard_error(parts, rows), limits(parts, rows, counted))
}

# Of the first `count` truths, evenly spaced from low to high; other truths are no numbers.
mean_of <- function(parts, count, low, high) {
  positions <- lapply(parts, function(part) {
    drop(seq(0, 1, length.out = count) %*% part$inverse[seq_len(count), ])
  })
  answered <- lapply(parts, function(part) colSums(part$inverse[seq_len(count), ]))
  everybody <- count == nrow(parts[[1]]$inverse)
  gave <- if (everybody) 1 else summed(parts, answered)
  ends <- c(0, 1)
  if (are_few(parts) && !everybody && length(parts) == 1) { # of several parts nothing but the range is sure
    ends <- ratio_limits(parts[[1]], positions[[1]], answered[[1]])
  }
  size <- function(row) max(abs(row))
  if (gave <= 1e-13 * max(sapply(positions, size) + sapply(answered, size))) {
    return(c(NaN, NaN, low + (high - low) * ends))
  }
  value <- summed(parts, positions) / gave
  away <- function(middle) Map(function(p, a) p - middle * a, positions, answered)
  # Positive where the interval of the sum of the distances from `middle` contains 0 (Fieller 1954).
  inside <- function(middle) min(c(-1, 1) * limits(parts, away(middle)))
  limit <- function(step) {
    if (inside(value) <= 0) return(value)
    near <- value
    for (doubling in 1:60) {
      if (inside(value + step) < 0) return(crossing(inside, near, value + step))
      near <- value + step
      step <- 2 * step
    }
    near
  }
  if (everybody) {
    error <- standard_error(parts, positions)
    ends <- limits(parts, positions, seq(0, 1, length.out = count))
  } else {
    error <- standard_error(parts, away(value)) / gave
    if (are_few(parts)) {
      ends <- range(ends, value)
    } else if (limits(parts, answered)[1] > 0) {
      step <- min(max(error, 2^-10), 1)
      ends <- c(limit(-step), limit(step))
    }
  }
  c(low + (high - low) * value, (high - low) * error, low + (high - low) * ends)
}

# --- The files -------------------------------------------------------------------------------------------------

read_table <- function(name) {
  read.csv(name, colClasses = "character", check.names = FALSE, na.strings = character(0), encoding = "UTF-8")
}

responses <- read_table("responses.csv")
codebook <- read_table("codebook.csv")
codebook <- codebook[codebook$pooled == "true", ]
none <- data.frame(stratum = character(), population = character(), leaf = character(), named = character())
strata <- if (file.exists("strata.csv")) read_table("strata.csv") else none
stratum <- if (nrow(strata)) responses$stratum else rep("", nrow(responses))
paths <- sort(unique(stratum))
place <- match(stratum, paths)
below_or_at <- function(path, others) path == "" | others == path | startsWith(others, paste0(path, " > "))

# One column of one version: its design (truths x reports) and its reports by stratum (strata x reports).
column_of <- function(rows) {
  truths <- unique(rows$truth)
  design <- matrix(as.numeric(rows$numerator) / as.numeric(rows$denominator), nrow = length(truths), byrow = TRUE)
  own <- responses$version == rows$version[1]
  codes <- as.integer(responses[own, rows$column[1]])
  cells <- tabulate((place[own] - 1) * ncol(design) + codes + 1, length(paths) * ncol(design))
  list(
    first = rows[1, ], truths = truths, design = design, counts = matrix(cells, ncol = ncol(design), byrow = TRUE),
    by_option = rows$encoding[1] %in% c("one_hot", "boxes")
  )
}

# All, each stratum, those without stratum; each response counting the same, and strata by their population.
groups <- function() {
  found <- list()
  add <- function(kind, path, weighting, sizes, places) {
    found[[length(found) + 1]] <<- list(
      names = c(kind, path, weighting), sizes = sizes, places = places
    )
  }
  named <- strata$stratum[strata$named == "true"]
  below <- function(path) which(below_or_at(path, paths))
  for (path in c("", named)) {
    kind <- if (path == "") "all" else "stratum"
    add(kind, path, "responses", 1, list(below(path)))
    leaves <- strata[strata$leaf == "true" & below_or_at(path, strata$stratum) & strata$stratum != path, ]
    if (nrow(leaves) && all(leaves$population != "" & leaves$stratum %in% named)) {
      add(kind, path, "population", as.numeric(leaves$population), lapply(leaves$stratum, below))
    }
  }
  if (no_stratum %in% paths) add("without stratum", "", "responses", 1, list(which(paths == no_stratum)))
  found
}

# Design and counts of a column; as to one answer, where another version has a column for each.
part_of <- function(column, places, answer) {
  counts <- colSums(column$counts[places, , drop = FALSE])
  if (is.na(answer) || column$by_option) return(list(design = column$design, counts = counts))
  keep <- column$design[1, 1]
  other <- column$design[1, 2]
  design <- matrix(c(1 - other, other, 1 - keep, keep), nrow = 2, byrow = TRUE)
  list(design = design, counts = c(sum(counts) - counts[answer], counts[answer]))
}

# The parts of a group; none if it, or a stratum that counts by its population, has no responses.
parts_of <- function(versions, index, answer, group) {
  found <- list()
  for (number in seq_along(group$sizes)) {
    merged <- list()
    for (columns in versions) {
      column <- columns[[if (length(columns) > 1) index else 1]]
      part <- part_of(column, group$places[[number]], answer)
      key <- paste(dim(part$design)[2], paste(part$design * 2^32, collapse = " "))
      if (!is.null(merged[[key]])) part$counts <- part$counts + merged[[key]]$counts
      merged[[key]] <- part
    }
    n <- sum(sapply(merged, function(part) sum(part$counts)))
    if (n == 0) return(list())
    for (part in merged) {
      if (sum(part$counts)) {
        weight <- group$sizes[number] / sum(group$sizes) * sum(part$counts) / n
        found[[length(found) + 1]] <- list(
          weight = weight, design = part$design, inverse = solve(t(part$design)), counts = part$counts
        )
      }
    }
  }
  found
}

estimates <- function() {
  found <- list()
  add <- function(question, answer, statistic, group, parts, values) {
    n <- sum(sapply(parts, function(part) sum(part$counts)))
    found[[length(found) + 1]] <<- c(question, answer, statistic, group$names, sprintf("%.17g", c(n, values)))
  }
  in_order <- function(values) factor(values, levels = unique(values))
  all_groups <- groups()
  for (asked in split(codebook, in_order(codebook$question))) {
    # The newest version is first.
    versions <- lapply(split(asked, in_order(asked$version)), function(rows) {
      lapply(split(rows, in_order(rows$column)), column_of)
    })
    newest <- versions[[1]]
    first <- newest[[1]]$first
    split_up <- any(sapply(versions, function(columns) columns[[1]]$by_option))
    answers <- if (newest[[1]]$by_option) sapply(newest, function(column) column$truths[2]) else newest[[1]]$truths
    ends <- if (first$encoding == "line") 2 else 0 # of a number, which are nobody's answers
    count <- length(answers) - ("prefer_not_to_say" %in% answers)
    for (group in all_groups) {
      for (index in seq_along(answers)[seq_along(answers) > ends]) {
        parts <- parts_of(versions, index, if (split_up) index else NA, group)
        truth <- if (split_up) 2 else index
        if (length(parts)) add(first$question, answers[[index]], "share", group, parts, share(parts, truth))
      }
      parts <- parts_of(versions, 1, NA, group)
      if (length(parts) && first$low != "") {
        values <- mean_of(parts, count, as.numeric(first$low), as.numeric(first$high))
        add(first$question, "", "mean", group, parts, values)
      }
    }
  }
  columns <- c(keys, numbers)
  found <- matrix(as.character(unlist(found)), ncol = length(columns), byrow = TRUE)
  found <- setNames(as.data.frame(found, stringsAsFactors = FALSE), columns)
  found[numbers] <- lapply(found[numbers], as.numeric)
  found
}

compare <- function(found) {
  reported <- read_table("estimates.csv")
  reported <- reported[!reported$n %in% c("", "0"), ]
  key <- function(rows) do.call(paste, c(rows[keys], sep = "\t"))
  own <- match(key(reported), key(found))
  known <- as.matrix(reported[!is.na(own), numbers])
  mode(known) <- "numeric"
  ours <- as.matrix(found[own[!is.na(own)], numbers])
  ours[!is.finite(ours)] <- NA
  differences <- abs(ours - known) / pmax(1, abs(known))
  differences[is.na(ours) & is.na(known)] <- 0
  differences[is.na(differences)] <- Inf
  largest <- max(0, differences)
  cat(sprintf("%d estimates compared, largest difference %.1e.\n", sum(!is.na(own)), largest))
  collapsed <- is.na(own) & (reported$strata_together != "" | reported$strata_not_used != "")
  unnamed <- sum(is.na(own) & !collapsed)
  if (any(collapsed)) cat(sprintf("%d more weight strata that are taken together or not used: not recomputed here.\n", sum(collapsed)))
  if (unnamed) cat(sprintf("%d more are of strata, or weighted by some, that responses.csv does not name.\n", unnamed))
  largest <= 1e-9
}

how <- c(commandArgs(trailingOnly = TRUE), "")[1]
found <- estimates()
if (how == "compare") {
  if (!compare(found)) stop("the estimates are not those of the report")
} else if (how == "csv") {
  found[numbers] <- lapply(found[numbers], function(values) ifelse(is.nan(values), "", sprintf("%.17g", values)))
  write.csv(found, row.names = FALSE, quote = 1:6)
} else {
  options(width = 200)
  print(found, digits = 6, row.names = FALSE, right = FALSE)
}
