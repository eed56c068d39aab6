/** What training says step by step, collected into lines and drawn. */

import { fill, h } from "../base/dom.js";
import { chart } from "./chart.js";

const MOST = 400; // points of a line; beyond, every second is left out

/** @typedef {{step: number, steps: number, losses?: Record<string, number>, thr?: number | null,
 *   held_out?: number | null}} Progress */

export class Curves {
  constructor() {
    this.element = h("div", { class: "charts", data: { test: "curves" } });
    /** @type {Record<"losses" | "thr" | "held_out", Map<string, [number, number][]>>} */
    this.lines = { losses: new Map(), thr: new Map(), held_out: new Map() };
    this.steps = 1;
    this.planned = false; // a drawing
  }

  clear() {
    for (const lines of Object.values(this.lines)) lines.clear();
    fill(this.element);
  }

  /** @param {Progress} progress */
  add(progress) {
    this.steps = Math.max(progress.steps, progress.step, 1);
    for (const [name, value] of Object.entries(progress.losses ?? {})) this.put("losses", name, progress.step, value);
    this.put("thr", "threshold", progress.step, progress.thr);
    this.put("held_out", "held out", progress.step, progress.held_out);
    if (this.planned) return;
    this.planned = true; // many events at once are one drawing
    requestAnimationFrame(() => this.draw());
  }

  /**
   * @param {"losses" | "thr" | "held_out"} chartName
   * @param {string} name
   * @param {number} step
   * @param {number | null | undefined} value
   */
  put(chartName, name, step, value) {
    if (typeof value !== "number" || !Number.isFinite(value)) return;
    const points = this.lines[chartName].get(name) ?? [];
    if (points.length && points[points.length - 1][0] >= step) return; // seen before a break
    points.push([step, value]);
    const kept = points.length > MOST ? points.filter((_, at) => at % 2 === 0) : points;
    this.lines[chartName].set(name, kept);
  }

  draw() {
    this.planned = false;
    const titles = { losses: "Loss", thr: "Threshold", held_out: "Held-out answers" };
    const drawn = Object.entries(titles).map(([key, title]) => {
      const lines = [...this.lines[/** @type {"losses"} */ (key)]].map(([name, points]) => ({ name, points }));
      return lines.length ? chart(title, lines, this.steps) : null;
    });
    fill(this.element, ...drawn);
  }
}
