# Writes reference.txt: base R's tests on small made-up data, "name number number …" a line.
# Rscript reference.R > reference.txt
say <- function(name, v) cat(name, format(v, digits = 17, scientific = TRUE, trim = TRUE), "\n")
set.seed(1)

for (case in 1:3) {
  n <- c(6, 10, 15)[case]; k <- c(4, 5, 3)[case]
  m <- matrix(rnorm(n * k), n) + rep((1:k) * 0.4, each = n)
  if (case > 1) m <- round(m, 0)  # ties
  f <- friedman.test(m)
  say(paste0("friedman", case, ".shape"), c(n, k))
  say(paste0("friedman", case, ".scores"), t(m))
  chi <- unname(f$statistic)
  F <- (n - 1) * chi / (n * (k - 1) - chi)
  say(paste0("friedman", case, ".want"), c(chi, f$p.value, F, pf(F, k - 1, (k - 1) * (n - 1), lower.tail = FALSE), colMeans(t(apply(m, 1, rank)))))
}

for (k in c(2, 3, 8, 40)) {
  q <- c(0.05, 0.5, 1, 2, 3, 4, 5, 6)
  say(paste0("tail.k", k), ptukey(q, k, Inf, lower.tail = FALSE))
  say(paste0("quantile.k", k), qtukey(c(0.1, 0.05, 0.01), k, Inf, lower.tail = FALSE))
}

for (case in 1:2) {
  p <- list(c(0.04, 0.001, 0.03, 0.9, 0.012, 0.03), runif(15)^3)[[case]]
  say(paste0("adjust", case, ".p"), p)
  for (method in c("bonferroni", "holm", "hochberg")) say(paste0("adjust", case, ".", method), p.adjust(p, method))
}

wilcoxon <- function(name, d) {
  w <- suppressWarnings(wilcox.test(d))
  say(paste0("wilcoxon.", name, ".d"), d)
  say(paste0("wilcoxon.", name, ".want"), c(w$statistic, w$p.value))
}
wilcoxon("exact5", c(1.1, 2.2, -0.3, 4.4, 5.1))
wilcoxon("exact12", round(rnorm(12) + 0.4, 6))
wilcoxon("exact49", round(rnorm(49) + 0.2, 6))
wilcoxon("many", round(rnorm(70) + 0.2, 6))
wilcoxon("ties", c(1, 2, 2, -1, 3, -2, 5, 4, 4, 1))
wilcoxon("zeros", c(0, 1, 2, 2, -1, 3, -2, 5, 0, 4, 0, 7))

for (pair in list(c(9, 2), c(31, 15), c(120, 180), c(5, 5), c(0, 7), c(1, 0))) {
  m <- mcnemar.test(matrix(c(50, pair[1], pair[2], 40), 2))
  say("mcnemar", c(pair, binom.test(pair[1], sum(pair))$p.value, unname(m$statistic), m$p.value))
}

d <- round(rnorm(10, 0.01, 0.02), 6)
t <- mean(d) / sqrt((1 / 10 + 1 / 9) * var(d))
half <- qt(0.975, 9) * sqrt((1 / 10 + 1 / 9) * var(d))
say("resampled.d", d)
say("resampled.want", c(mean(d), t, 2 * pt(-abs(t), 9), mean(d) - half, mean(d) + half))
