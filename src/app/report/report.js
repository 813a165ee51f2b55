const data = JSON.parse(document.getElementById("report-data").textContent);
const runs = data.runs;
const single = runs.length === 1;
const element = (id) => document.getElementById(id);

// What a run is judged by: its best validation loss, or without validation its training loss.
const scored = runs.some((run) => run.summary.best !== null) ? "best" : "training";
const score = (run) => run.summary[scored] ?? Infinity;
const ranked = [...runs].sort((a, b) => score(a) - score(b));
ranked.forEach((run, rank) => (run.rank = rank));

// A few runs get colours of their own; of many, the better ones stand out.
function color(run) {
  if (runs.length <= 8) return `var(--c${runs.indexOf(run)})`;
  const share = Math.round(100 * (1 - run.rank / (runs.length - 1)) ** 2);
  return `color-mix(in oklab, var(--best) ${share}%, var(--worst))`;
}
runs.forEach((run) => Object.assign(run, { color: color(run), checked: true, matches: true }));

const loss = (value) => (value === null ? "–" : value.toFixed(4));
const show = (value) => (value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value));

const isShown = (run) => run.checked && run.matches;
/** The shown runs that have a curve of this kind, the best one last, so that it lies on top. */
function curves(kind) {
  const having = ranked.filter((run) => isShown(run) && run[kind][0].length > 0);
  return having.reverse().map((run) => ({ name: run.name, color: run.color, curve: run[kind], dots: false }));
}

const KINDS = [
  ["validation", "Validation loss", "nats per character", true],
  ["training", "Training loss (smoothed)", "nats per character", true],
  ["learning_rate", "Learning rate", "", false],
  ["gradient_norm", "Gradient norm", "before clipping", false],
  ["chars_per_second", "Speed", "characters a second", false],
];

function lossSeries() {
  const [run] = runs;
  const series = [{ name: "training (smoothed)", color: "var(--c0)", curve: run.training }];
  series.push({ name: "validation", color: "var(--c1)", curve: run.validation, dots: run.validation[0].length <= 60 });
  return series.filter((one) => one.curve[0].length > 0);
}

function makeCharts() {
  const plots = [];
  const log = () => element("log").checked;
  const add = (options) => plots.push(new LinePlot(element("charts"), options));
  if (single) add({ title: "Loss", unit: "nats per character", series: lossSeries, log });
  for (const [kind, title, unit, isLoss] of KINDS) {
    if (single && isLoss) continue;
    if (!runs.some((run) => run[kind][0].length > 0)) continue;
    add({ title, unit, series: () => curves(kind), log: isLoss ? log : undefined });
  }
  element("log").addEventListener("change", () => plots.forEach((plot) => plot.draw()));
  return plots;
}

function tile(value, label) {
  return html("div", { class: "tile" }, html("b", {}, value), html("span", {}, label));
}

function tiles(run) {
  const { summary } = run;
  const box = html("div", { class: "tiles" });
  if (summary.best !== null) {
    box.append(tile(loss(summary.best), `best validation loss, at step ${number(summary.best_step)}`));
    box.append(tile(loss(summary.bits_per_char), "bits per character, at best"));
  }
  if (summary.training !== null) box.append(tile(loss(summary.training), "training loss at the end"));
  box.append(tile(number(summary.steps), summary.planned ? `steps of ${number(summary.planned)}` : "steps"));
  if (run.parameters !== null) box.append(tile(number(run.parameters), "parameters"));
  if (summary.chars_per_second !== null) box.append(tile(number(summary.chars_per_second), "characters a second"));
  box.append(tile(duration(summary.seconds), "in training steps"));
  return box;
}

function describeVaried(run) {
  return data.varied.map((key) => `${key} ${JSON.stringify(run.config[key] ?? null)}`).join(", ");
}

function showOverview() {
  if (single) {
    element("title").textContent = runs[0].name;
    element("subtitle").textContent = `Training report, written by ${data.program}`;
    document.title = `${runs[0].name}: training report`;
    element("overview").append(tiles(runs[0]), html("h2", {}, "What the numbers say"), element("words"));
    element("detail-title").hidden = element("choice").hidden = true;
    return;
  }
  element("title").textContent = `${runs.length} runs`;
  element("subtitle").textContent = `Training report, written by ${data.program}`;
  const best = ranked[0];
  const varied = data.varied.length > 0 && data.varied.length <= 8 ? `, with ${describeVaried(best)}` : "";
  const what = scored === "best" ? "lowest validation loss" : "lowest training loss";
  element("overview").append(tiles(best), html("p", {}, `The figures are those of the run with the ${what}: ${best.name}${varied}.`));
  element("curves-hint").textContent = runs.length > 8 ? "The stronger the colour, the lower the loss of the run." : "";
}


// Heading, value to sort by, text.
function columns() {
  const sum = (name, text = number) => [(run) => run.summary[name], (run) => text(run.summary[name])];
  return [
    ["run", (run) => run.name, null],
    ...data.varied.map((key) => [key, (run) => run.config[key], (run) => show(run.config[key])]),
    ["best validation", ...sum("best", loss)],
    ["final validation", ...sum("validation", loss)],
    ["bits per char", ...sum("bits_per_char", loss)],
    ["at step", ...sum("best_step")],
    ["training", ...sum("training", loss)],
    ["steps", ...sum("steps")],
    ["parameters", (run) => run.parameters, (run) => number(run.parameters)],
    ["time", ...sum("seconds", duration)],
    ["chars/s", ...sum("chars_per_second")],
  ];
}

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

class RunTable {
  constructor(changed) {
    this.changed = changed;
    this.columns = columns();
    this.order = [scored === "best" ? "best validation" : "training", 1];
    this.rows = new Map(runs.map((run) => [run, this.row(run)]));
    const head = html("tr");
    for (const [name] of this.columns) {
      const button = html("button", { type: "button" }, name);
      button.addEventListener("click", () => this.sortBy(name));
      head.append(html("th", name === "run" ? { class: "text" } : {}, button));
    }
    this.body = html("tbody");
    element("table").append(html("thead", {}, head), this.body);
    element("filter").addEventListener("input", () => this.filter(element("filter").value));
    for (const button of document.querySelectorAll("[data-show]")) {
      button.addEventListener("click", () => this.choose(button.dataset.show));
    }
    this.sort();
    this.update();
  }

  row(run) {
    const box = html("input", { type: "checkbox" });
    box.addEventListener("change", () => {
      run.checked = box.checked;
      this.update();
    });
    run.box = box;
    const swatch = html("span", { class: "swatch" });
    swatch.style.color = run.color;
    const row = html("tr", run.rank === 0 ? { class: "top" } : {}, html("td", { class: "text" }, html("label", {}, box, swatch, run.name)));
    for (const [, , text] of this.columns.slice(1)) row.append(html("td", {}, text(run)));
    row.addEventListener("dblclick", () => showRun(run));
    return row;
  }

  sortBy(name) {
    this.order = [name, this.order[0] === name ? -this.order[1] : 1];
    this.sort();
  }

  sort() {
    const [name, direction] = this.order;
    const value = this.columns.find((column) => column[0] === name)[1];
    const sorted = [...runs].sort((a, b) => direction * compare(value(a), value(b)));
    this.body.replaceChildren(...sorted.map((run) => this.rows.get(run)));
  }

  filter(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    for (const run of runs) {
      const about = [run.name, ...Object.entries(run.config).map(([key, value]) => `${key}=${show(value)}`)].join(" ").toLowerCase();
      run.matches = words.every((word) => about.includes(word));
    }
    this.update();
  }

  choose(which) {
    for (const run of runs) run.checked = which === "all" || (which === "best" && run.rank < 10);
    this.update();
  }

  update() {
    for (const run of runs) {
      run.box.checked = run.checked;
      this.rows.get(run).hidden = !run.matches;
      this.rows.get(run).classList.toggle("dim", !run.checked);
    }
    element("shown-count").textContent = `${runs.filter(isShown).length} of ${runs.length} shown`;
    this.changed();
  }
}

function makeScatters() {
  const judged = runs.filter((run) => Number.isFinite(score(run)));
  const plots = [];
  for (const key of judged.length ? data.varied : []) {
    const points = () => judged.filter((run) => isShown(run) && run.config[key] !== undefined)
      .map((run) => ({ name: run.name, color: run.color, x: run.config[key], y: score(run) }));
    const unit = scored === "best" ? "best validation loss, nats per character" : "training loss, nats per character";
    plots.push(new ScatterPlot(element("scatters"), { title: key, unit, xLabel: key, points }));
  }
  element("varied").hidden = plots.length === 0;
  return plots;
}

function showRun(run) {
  element("run").value = runs.indexOf(run);
  const notes = run.notes.map((note) => html("li", { class: "note" }, note));
  element("words").replaceChildren(html("ul", {}, ...run.words.map((word) => html("li", {}, word)), ...notes));
  const heading = ({ step, prompt }) => `step ${number(step)}${prompt === "" ? "" : `, ${JSON.stringify(prompt)}`}`;
  const samples = run.samples.map((sample) => html("div", { class: "sample" }, html("b", {}, heading(sample)), html("pre", {}, sample.text)));
  element("samples").replaceChildren(...(samples.length ? samples : [html("p", {}, "None were drawn: train.sample_every says how often.")]));
  const rows = Object.entries(run.config).map(([key, value]) => html("tr", {}, html("td", { class: "text" }, key), html("td", { class: "text" }, show(value))));
  element("config").replaceChildren(html("tbody", {}, ...rows));
}

function main() {
  showOverview();
  const plots = makeCharts();
  if (!single) {
    element("runs").hidden = false;
    for (const run of ranked) element("run").append(html("option", { value: runs.indexOf(run) }, run.name));
    element("run").addEventListener("change", () => showRun(runs[element("run").value]));
    plots.push(...makeScatters());
    let planned = false;
    new RunTable(() => {
      if (planned) return;
      planned = true;
      requestAnimationFrame(() => {
        planned = false;
        plots.forEach((plot) => plot.draw());
      });
    });
  }
  showRun(ranked[0]);
}

main();
