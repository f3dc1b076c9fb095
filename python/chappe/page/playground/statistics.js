"use strict";
// Intervals of measures over batches or runs, as chappe.stats computes them.
const statistics = (() => {
  const FARTHEST = 2, ROUNDING = 1e-12;
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const dot = (a, b) => a.reduce((all, x, i) => all + x * b[i], 0);

  const jain = (totals) => {
    const squares = totals.length * dot(totals, totals);
    return squares === 0 ? NaN : sum(totals) ** 2 / squares;
  };
  const ratio = ([over, under]) => (under === 0 ? NaN : over / under);

  // Totals of the used batches of a run, one row each, by measure: two columns for a ratio, one per flow for Jain's index.
  const totals = (batches, flows) => {
    const used = batches.used.flatMap((is, i) => (is ? [i] : [])), column = (name) => used.map((i) => batches[name][i] ?? NaN);
    const time = column("ended_at_s").map((end, i) => end - column("started_at_s")[i]);
    const rows = (over, under) => over.map((x, i) => [x, under[i]]);
    const mean = (name, samples) => {
      const weights = column(samples);
      return rows(column(name).map((x, i) => (weights[i] > 0 ? x * weights[i] : 0)), weights);
    };
    const of = Math.max(0, ...flows.flow) + 1, shares = used.map(() => Array(of).fill(0)), place = new Map(used.map((i, k) => [batches.batch[i], k]));
    flows.batch.forEach((b, i) => { if (place.has(b)) shares[place.get(b)][flows.flow[i]] = flows.bytes_delivered[i]; });
    return {
      goodput_bps: rows(column("bytes_delivered").map((b) => 8 * b), time),
      throughput_bps: rows(column("throughput_bps").map((x, i) => x * time[i]), time),
      ...(of > 1 ? { jain_index: shares } : {}),
      mean_window_segments: mean("mean_window_segments", "window_observed_s"),
      mean_rtt_s: mean("mean_rtt_s", "rtt_samples"),
      mean_delay_s: mean("mean_delay_s", "delay_samples"),
    };
  };

  const isKnown = (row) => row.every(Number.isFinite) && row.some((x) => x !== 0);
  const whole = (rows) => (rows.length ? rows[0].map((_, i) => sum(rows.map((row) => row[i]))) : []);

  // Totals of a run for pooling with other runs.
  const ofRun = (name, rows) => (!rows.length ? [NaN, NaN] : name === "jain_index" ? [jain(whole(rows)), 1] : whole(rows));

  // Estimate and ends of the interval; `quantiles` are those of Student's t by degrees of freedom.
  const estimate = (rows, statistic, limits, quantiles) => {
    const known = rows.filter(isKnown), n = known.length;
    if (!n) return { n, mean: null, low: null, high: null };
    const all = whole(known), value = statistic(all);
    if (Number.isNaN(value)) return { n: 0, mean: null, low: null, high: null };
    if (n === 1) return { n, mean: value, low: null, high: null };
    let pseudo = known.map((row) => (statistic === ratio
      ? value + (n - 1) * ratio([row[0] - value * row[1], all[1] - row[1]])
      : n * value - (n - 1) * statistic(all.map((x, i) => x - row[i]))));
    if (Math.max(...pseudo) - Math.min(...pseudo) <= ROUNDING * Math.abs(value)) pseudo = pseudo.map(() => value);
    const middle = sum(pseudo) / n;
    let d = pseudo.map((x) => x - middle);
    if (dot(d, d) <= ROUNDING ** 2 * dot(pseudo, pseudo)) d = d.map(() => 0);
    const error = Math.sqrt(dot(d, d) / (n - 1) / n), deviation = Math.sqrt(dot(d, d) / n);
    const cubes = deviation === 0 || n < 3 ? 0 : (sum(d.map((x) => (x / deviation) ** 3)) / n) * Math.sqrt(n * (n - 1)) / (n - 2);
    const t = quantiles[Math.min(n - 1, quantiles.length) - 1], a = cubes / Math.sqrt(n) / 6;
    const unskewed = (z) => {
      const x = 6 * a * (z - a);
      return (x > -1 ? Math.expm1(Math.log1p(x) / 3) : Math.cbrt(1 + x) - 1) / (2 * a);
    };
    const reach = (z) => (a ? Math.max(t, Math.min(z, FARTHEST * t)) : t);
    const most = value <= limits[1] ? limits[1] : Infinity;
    return {
      n, mean: value,
      low: Math.max(value - reach(a && unskewed(t)) * error, limits[0]),
      high: Math.min(value + reach(a && -unskewed(-t)) * error, most),
    };
  };

  // Estimates of all measures from the totals of runs, or from the batches of a single one.
  const summary = (runs, quantiles, fastest_bps) => Object.keys(runs[0]).map((name) => {
    const flows = runs[0].jain_index ? runs[0].jain_index[0].length : 1;
    const limits = name === "jain_index" ? [1 / flows, 1] : [0, name === "goodput_bps" && fastest_bps ? flows * fastest_bps : Infinity];
    const rows = runs.length > 1 ? runs.map((run) => ofRun(name, run[name])) : runs[0][name];
    return { name, ...estimate(rows, name === "jain_index" && runs.length === 1 ? jain : ratio, limits, quantiles) };
  });

  return { totals, summary };
})();
