"use strict";

// Plots as inline SVG. All text goes through textContent: names and samples are untrusted.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { left: 58, right: 16, top: 10, bottom: 40 };
const HEIGHT = 290;

function svg(name, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  return element;
}

function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** A number as it is read: four or five digits, thousands set apart, very small and large ones in powers of ten. */
function number(value, digits = 5) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e9)) return value.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(digits)));
}

function duration(seconds) {
  const total = Math.round(seconds);
  const two = (n) => String(n).padStart(2, "0");
  const minutes = Math.floor(total / 60);
  return minutes < 60 ? `${minutes}:${two(total % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(total % 60)}`;
}

/** A direction of a plot, linear or logarithmic: where values lie (0 to 1), and ticks at round ones. */
class Scale {
  constructor(values, log) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) {
      if (log && value <= 0) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (low > high) [low, high] = log ? [1, 10] : [0, 1];
    if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - (Math.abs(low) / 10 || 1), high + (Math.abs(high) / 10 || 1)];
    Object.assign(this, { low, high, log });
  }

  place(value) {
    const f = this.log ? Math.log : (x) => x;
    return (f(value) - f(this.low)) / (f(this.high) - f(this.low));
  }

  ticks(most) {
    const ticks = this.log ? this.logTicks() : [];
    return ticks.length >= 2 && ticks.length <= 2 * most ? ticks : this.linearTicks(most);
  }

  linearTicks(most) {
    const least = (this.high - this.low) / most;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((s) => s >= least * 0.999);
    const ticks = [];
    for (let i = Math.ceil(this.low / step - 1e-9); i * step <= this.high + step * 1e-9; ++i) ticks.push(Number((i * step).toPrecision(12)));
    return ticks;
  }

  logTicks() {
    const wide = this.high / this.low > 1000;
    const ticks = [];
    for (let power = Math.floor(Math.log10(this.low)); power <= Math.ceil(Math.log10(this.high)); ++power) {
      for (const factor of wide ? [1] : [1, 2, 5]) ticks.push(Number((factor * 10 ** power).toPrecision(6)));
    }
    return ticks.filter((tick) => tick >= this.low * 0.999 && tick <= this.high * 1.001);
  }
}

/** What curves and scatters share: frame, scales, and a tip that follows pointer and arrow keys. */
class Plot {
  /** parent: where to; title, unit, xLabel: texts. */
  constructor(parent, { title, unit = "", xLabel }) {
    this.box = html("div", { class: "chart" });
    this.box.append(html("h3", {}, title, " ", html("small", {}, unit)));
    this.svg = svg("svg", { height: HEIGHT, tabindex: 0, role: "img", "aria-label": `${title} against ${xLabel}` });
    this.tip = html("div", { class: "tip", hidden: "" });
    this.box.append(this.svg, this.tip);
    parent.append(this.box);
    Object.assign(this, { title, xLabel, at: null });
    this.svg.addEventListener("pointermove", (event) => this.point(event.offsetX, event.offsetY));
    this.svg.addEventListener("pointerleave", () => this.leave());
    this.svg.addEventListener("blur", () => this.leave());
    this.svg.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.width !== this.svg.clientWidth && this.draw()).observe(this.svg);
  }

  frame(x, y) {
    this.width = this.svg.clientWidth;
    const inner = Math.max(10, this.width - MARGIN.left - MARGIN.right);
    const tall = HEIGHT - MARGIN.top - MARGIN.bottom;
    Object.assign(this, { x, y });
    this.column = (value) => MARGIN.left + x.place(value) * inner;
    this.row = (value) => MARGIN.top + (1 - y.place(value)) * tall;
    this.svg.replaceChildren();
    this.bottom = MARGIN.top + tall;
    const right = MARGIN.left + inner;
    for (const tick of y.ticks(6)) {
      this.svg.append(svg("line", { class: "grid", x1: MARGIN.left, x2: right, y1: this.row(tick), y2: this.row(tick) }));
      this.svg.append(svg("text", { x: MARGIN.left - 8, y: this.row(tick) + 4, "text-anchor": "end" }, number(tick)));
    }
    this.svg.append(svg("line", { class: "axis", x1: MARGIN.left, x2: right, y1: this.bottom, y2: this.bottom }));
    this.svg.append(svg("text", { x: (MARGIN.left + right) / 2, y: this.bottom + 34, "text-anchor": "middle" }, this.xLabel));
    return inner;
  }

  xTicks(ticks) {
    let free = -Infinity;
    for (const [value, text] of ticks) {
      const at = this.column(value);
      const half = text.length * 3.6;
      if (at - half < free || at + half > this.width + 8) continue;
      free = at + half + 8;
      this.svg.append(svg("line", { class: "axis", x1: at, x2: at, y1: this.bottom, y2: this.bottom + 4 }));
      this.svg.append(svg("text", { x: at, y: this.bottom + 17, "text-anchor": "middle" }, text));
    }
  }

  point(x, y) {
    this.at = [x, y];
    this.hover(x, y);
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const [x, y] = this.at ?? [this.width / 2, HEIGHT / 2];
    this.point(Math.min(this.width, Math.max(MARGIN.left, x + step * this.width / 100)), y);
  }

  /** Shows lines of [colour, text] beside a point. */
  showTip(x, y, head, lines) {
    this.tip.replaceChildren(head);
    for (const [color, text] of lines) {
      const swatch = html("span", { class: "swatch" });
      swatch.style.color = color;
      this.tip.append(html("div", {}, swatch, html("span", {}, text)));
    }
    this.tip.hidden = false;
    const left = this.svg.offsetLeft + x + 14;
    const most = this.box.clientWidth - this.tip.offsetWidth - 4;
    this.tip.style.left = `${Math.max(4, left > most ? left - this.tip.offsetWidth - 28 : left)}px`;
    this.tip.style.top = `${this.svg.offsetTop + Math.max(0, Math.min(y, HEIGHT - this.tip.offsetHeight - 10))}px`;
  }

  leave() {
    this.at = null;
    this.tip.hidden = true;
    this.marks?.remove();
    this.svg.classList.remove("near");
  }
}

/** Curves over steps. series(): a list of {name, color, curve: [[steps], [values]], dots}, those to be shown now. */
class LinePlot extends Plot {
  constructor(parent, options) {
    super(parent, { xLabel: "step", ...options });
    Object.assign(this, { source: options.series, log: options.log ?? (() => false), legend: html("div", { class: "legend" }) });
    this.box.insertBefore(this.legend, this.svg);
    this.draw();
  }

  draw() {
    this.series = this.source();
    const x = new Scale(this.series.flatMap(({ curve }) => [curve[0][0], curve[0].at(-1)]), false);
    const y = new Scale(this.series.flatMap(({ curve }) => curve[1]), this.log());
    const inner = this.frame(x, y);
    this.xTicks(x.ticks(Math.max(2, Math.floor(inner / 80))).map((tick) => [tick, number(tick)]));
    this.svg.classList.toggle("many", this.series.length > 8);
    for (const one of this.series) this.drawCurve(one);
    this.drawLegend();
    this.tip.hidden = true;
  }

  drawCurve(one) {
    const [steps, values] = one.curve;
    const path = steps.map((step, i) => `${i ? "L" : "M"}${this.column(step).toFixed(1)} ${this.row(values[i]).toFixed(1)}`).join("");
    one.path = svg("path", { class: "curve", d: path });
    one.path.style.stroke = one.color;
    this.svg.append(one.path);
    if (!one.dots && steps.length > 1) return;
    for (let i = 0; i < steps.length; ++i) this.svg.append(this.dot(one.color, steps[i], values[i], 2.5));
  }

  dot(color, x, y, radius) {
    const dot = svg("circle", { cx: this.column(x), cy: this.row(y), r: radius });
    dot.style.fill = color;
    return dot;
  }

  drawLegend() {
    this.legend.replaceChildren();
    if (this.series.length < 2 || this.series.length > 8) return;
    for (const { name, color } of this.series) {
      const swatch = html("span", { class: "swatch" });
      swatch.style.color = color;
      this.legend.append(html("span", {}, swatch, name));
    }
  }

  /** Of each series the point nearest to a column, those nearest to the pointer first. */
  nearest(x, y) {
    const found = this.series.map((one) => {
      const steps = one.curve[0];
      let [low, high] = [0, steps.length - 1];
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (this.column(steps[middle]) <= x) low = middle;
        else high = middle;
      }
      const i = Math.abs(this.column(steps[high]) - x) < Math.abs(this.column(steps[low]) - x) ? high : low;
      const [step, value] = [steps[i], one.curve[1][i]];
      return { one, step, value, distance: Math.hypot(this.column(step) - x, this.row(value) - y) };
    });
    return found.sort((a, b) => a.distance - b.distance);
  }

  hover(x, y) {
    const found = this.nearest(x, y);
    if (!found.length) return;
    const shown = found.slice(0, found.length > 8 ? 1 : 8);
    const first = shown[0];
    this.marks?.remove();
    this.marks = svg("g");
    const at = this.column(first.step);
    this.marks.append(svg("line", { class: "cursor", x1: at, x2: at, y1: MARGIN.top, y2: this.bottom }));
    for (const { one, step, value } of shown) this.marks.append(this.dot(one.color, step, value, 4));
    this.svg.append(this.marks);
    this.svg.classList.toggle("near", found.length > 1 && found.length !== shown.length);
    for (const { one } of found) one.path.classList.toggle("nearest", one === first.one);
    const text = ({ one, step, value }) => `${one.name}: ${number(value)}${step === first.step ? "" : ` (step ${step})`}`;
    this.showTip(at, this.row(first.value), `step ${number(first.step)}`, shown.map((entry) => [entry.one.color, text(entry)]));
  }
}

/** Points over the values of a config key. points(): a list of {name, color, x, y}. */
class ScatterPlot extends Plot {
  constructor(parent, options) {
    super(parent, options);
    this.source = options.points;
    this.draw();
  }

  draw() {
    this.points = this.source();
    const values = this.points.map((point) => point.x);
    const numeric = values.every((value) => typeof value === "number");
    // Other values stand side by side in the order of their names.
    const kinds = numeric ? [] : [...new Set(values.map((value) => JSON.stringify(value)))].sort();
    const place = (value) => (numeric ? value : kinds.indexOf(JSON.stringify(value)));
    const wide = numeric && Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) >= 10;
    const x = new Scale(numeric ? values : [-0.5, kinds.length - 0.5], wide);
    if (numeric && !wide) [x.low, x.high] = [x.low - (x.high - x.low) / 20, x.high + (x.high - x.low) / 20];
    if (wide) [x.low, x.high] = [x.low / 1.2, x.high * 1.2];
    const inner = this.frame(x, new Scale(this.points.map((point) => point.y), false));
    const ticks = numeric ? x.ticks(Math.max(2, Math.floor(inner / 70))).map((tick) => [tick, number(tick)])
      : kinds.map((kind, i) => [i, kind.replaceAll('"', "").slice(0, 24)]);
    this.xTicks(ticks);
    for (const point of this.points) {
      [point.column, point.row] = [this.column(place(point.x)), this.row(point.y)];
      const dot = svg("circle", { cx: point.column, cy: point.row, r: 4, "fill-opacity": 0.75 });
      dot.style.fill = point.color;
      this.svg.append(dot);
    }
    this.tip.hidden = true;
  }

  hover(x, y) {
    const far = (point) => Math.hypot(point.column - x, point.row - y);
    const nearest = this.points.reduce((best, point) => (best && far(best) <= far(point) ? best : point), null);
    if (!nearest) return;
    this.marks?.remove();
    this.marks = svg("circle", { cx: nearest.column, cy: nearest.row, r: 6.5, fill: "none" });
    this.marks.style.stroke = nearest.color;
    this.svg.append(this.marks);
    const shown = typeof nearest.x === "string" ? nearest.x : JSON.stringify(nearest.x);
    this.showTip(nearest.column, nearest.row, nearest.name, [[nearest.color, `${this.xLabel} ${shown}: ${number(nearest.y)}`]]);
  }
}
