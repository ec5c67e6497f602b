"use strict";
const element = (name, text, className) => {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
};

// The form: a prediction soon after each change; answers that come late are left out.
const form = document.getElementById("form"), result = document.getElementById("result");
let asked = 0, timer = 0, explaining = 0;
const waits = []; // of this page's last requests, in ms

function record() {
  const record = {};
  for (const field of form.elements) {
    if (!field.name) continue;
    const text = field.value.trim();
    if (field.dataset.min !== undefined) {
      const v = Number(text), out = text !== "" && (v < Number(field.dataset.min) || v > Number(field.dataset.max));
      field.classList.toggle("outside", out);
      field.title = out ? "Not within what the training has seen" : "";
    }
    record[field.name] = field.tagName === "SELECT" ? field.value : text === "" ? null : isFinite(text) ? Number(text) : text;
  }
  return record;
}

async function predict() {
  const mine = ++asked, asks = record();
  clearTimeout(explaining);
  explaining = setTimeout(explain, 250, mine, asks);
  const start = performance.now();
  let answer, failed = "";
  try {
    const r = await fetch(form.dataset.at, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asks) });
    answer = await r.json();
    if (!r.ok) failed = answer.error;
  } catch (e) {
    failed = "The server does not answer.";
  }
  if (mine !== asked) return;
  const wait = performance.now() - start;
  document.getElementById("took").textContent = failed ? "" : wait.toFixed(1) + " ms, there and back";
  waits.push(wait);
  if (waits.length > 100) waits.shift();
  const sorted = [...waits].sort((a, b) => a - b);
  document.getElementById("mine").textContent = "This page's last " + waits.length + ": half within " +
    sorted[Math.floor(sorted.length / 2)].toFixed(1) + " ms, all within " + sorted[sorted.length - 1].toFixed(1) + " ms";
  result.replaceChildren();
  if (failed) {
    result.append(element("p", failed, "answer error"));
    return;
  }
  const p = answer.prediction;
  result.append(element("p", Array.isArray(p) ? p.join(", ") || "none" : typeof p === "number" ? String(Number(p.toPrecision(6))) : p, "answer"));
  const number = (v) => Array.isArray(v) ? v.map(number).join(", ") : String(Number(v.toPrecision(6)));
  if (answer.lower !== undefined) result.append(element("p", "between " + number(answer.lower) + " and " + number(answer.upper) + ", with probability " + form.dataset.level, "muted"));
  if (answer.deviation !== undefined) result.append(element("p", "± " + number(answer.deviation), "muted"));
  const shares = Object.entries(answer.probabilities || {}).sort((a, b) => b[1] - a[1]).slice(0, 12);
  for (const [name, share] of shares) {
    const line = element("div", undefined, "bar"), back = element("div"), bar = element("div");
    bar.style.width = (100 * share).toFixed(2) + "%";
    back.append(bar);
    line.append(element("span", name), back, element("span", (100 * share).toFixed(1) + " %"));
    result.append(line);
  }
}

// explain shows the contributions of a record, unless it has changed meanwhile.
const why = document.getElementById("why"), contributions = document.getElementById("contributions");

async function explain(mine, asks) {
  let c;
  try {
    const r = await fetch(form.dataset.at + "&explain=1", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asks) });
    if (r.ok) c = (await r.json()).contributions;
  } catch (e) {
    // The prediction says that the server does not answer.
  }
  if (mine !== asked) return;
  why.hidden = !c;
  if (!c) return;
  contributions.replaceChildren(element("p", "Score of " + c.of + ": " + c.score.toFixed(3) + ", on average " + c.base.toFixed(3), "muted"));
  const values = Object.entries(c.values).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 10);
  const most = Math.max(...values.map((v) => Math.abs(v[1])), 1e-12);
  for (const [name, value] of values) {
    const line = element("div", undefined, "bar"), back = element("div"), bar = element("div", undefined, value < 0 ? "less" : "");
    bar.style.width = (100 * Math.abs(value) / most).toFixed(2) + "%";
    back.append(bar);
    line.append(element("span", name), back, element("span", (value < 0 ? "−" : "+") + Math.abs(value).toFixed(3)));
    contributions.append(line);
  }
}

if (form) {
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(predict, 80); });
  form.addEventListener("submit", (e) => { e.preventDefault(); predict(); });
  predict();
}

// A file of rows.
const file = document.getElementById("file"), drop = document.getElementById("drop"), batch = document.getElementById("batch");

async function predictFile(chosen) {
  batch.textContent = "Predicting " + chosen.name + " …";
  try {
    const r = await fetch(file.dataset.at, { method: "POST", headers: { "Content-Type": "text/csv" }, body: chosen });
    if (!r.ok) {
      batch.textContent = (await r.json()).error;
      return;
    }
    const text = await r.text(), link = element("a", "Download");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = chosen.name.replace(/\.csv$/i, "") + "-predictions.csv";
    batch.textContent = (text.split("\n").length - 2) + " rows predicted. ";
    batch.append(link);
  } catch (e) {
    batch.textContent = "The server does not answer.";
  }
}

if (file) {
  file.addEventListener("change", () => { if (file.files[0]) predictFile(file.files[0]); });
  for (const name of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(name, (e) => {
      e.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop" && e.dataTransfer.files[0]) predictFile(e.dataTransfer.files[0]);
    });
  }
}

// What the server does, from its metrics.
let before = null;

async function watch() {
  if (document.hidden) return;
  try {
    const text = await (await fetch("/metrics")).text(), now = { at: performance.now(), rows: 0, count: 0, seconds: 0 };
    for (const line of text.split("\n")) {
      const value = Number(line.slice(line.lastIndexOf(" ") + 1));
      if (line.startsWith("mercer_rows_total")) now.rows += value;
      if (/^mercer_request_duration_seconds_(sum|count)\{operation="(predict|infer|kserve_predict|mlflow)"/.test(line)) {
        now[line.includes("_sum") ? "seconds" : "count"] += value;
      }
    }
    if (before) {
      document.getElementById("rate").textContent = Math.round(1000 * (now.rows - before.rows) / (now.at - before.at)).toLocaleString("en");
    }
    if (now.count) document.getElementById("latency").textContent = (1000 * now.seconds / now.count).toFixed(2) + " ms";
    before = now;
  } catch (e) {
    document.getElementById("rate").textContent = "–";
  }
}

watch();
setInterval(watch, 2000);
