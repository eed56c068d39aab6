/** A small chart of lines over steps. */

import { h, svg } from "../base/dom.js";

const WIDTH = 320;
const HEIGHT = 140;
const LEFT = 40;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 20;

/**
 * @typedef {{name: string, points: [number, number][]}} Line
 * @param {string} title
 * @param {Line[]} lines
 * @param {number} steps the right end
 */
export function chart(title, lines, steps) {
  const full = lines.filter((line) => line.points.length);
  const values = full.flatMap((line) => line.points.map((point) => point[1]));
  const [low, high] = range(values);
  const x = (/** @type {number} */ step) => LEFT + (step / Math.max(1, steps)) * (WIDTH - LEFT - RIGHT);
  const y = (/** @type {number} */ value) => TOP + (1 - (value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const label = full.map((line) => `${line.name} from ${short(line.points[0][1])} to ${short(end(line)[1])}`).join(", ");
  return h(
    "figure",
    { class: "chart" },
    h("figcaption", {}, title, legend(full)),
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: ${label || "nothing yet"}` },
      ...[low, (low + high) / 2, high].flatMap((value) => [
        svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value), class: "rule" }),
        svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)),
      ]),
      svg("text", { x: WIDTH - RIGHT, y: HEIGHT - 4, "text-anchor": "end" }, `step ${steps}`),
      ...full.flatMap((line, at) => [
        svg("path", { class: `line-${at}`, d: path(line.points, x, y) }),
        svg("circle", { class: `dot-${at}`, cx: x(end(line)[0]), cy: y(end(line)[1]), r: 3 }),
      ]),
    ),
  );
}

/** @param {Line} line */
const end = (line) => line.points[line.points.length - 1];

/** @param {Line[]} lines */
function legend(lines) {
  return h(
    "span",
    { class: "legend" },
    ...lines.map((line, at) => h("span", { class: `key-${at}` }, `${line.name} `, h("b", {}, short(end(line)[1])))),
  );
}

/**
 * @param {[number, number][]} points
 * @param {(step: number) => number} x
 * @param {(value: number) => number} y
 */
function path(points, x, y) {
  return points.map(([step, value], at) => `${at ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join("");
}

/**
 * @param {number[]} values
 * @returns {[number, number]}
 */
function range(values) {
  if (!values.length) return [0, 1];
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = (high - low) * 0.08 || Math.abs(high) * 0.1 || 0.5;
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
}

/** @param {number} value */
const short = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(2));
