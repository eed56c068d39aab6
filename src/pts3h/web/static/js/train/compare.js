/** Before and after, side by side: the figures on answers that were kept back, and what the same queries find. */

import { h } from "../base/dom.js";
import { thumbnail } from "../base/pictures.js";
import { count } from "../base/words.js";

const THUMB = 88;

/** @typedef {{id: string, distance: number}} Near */
/** @typedef {{figures: import("../base/server.js").Figures | null,
 *   queries: {id: string, before: Near[], after: Near[]}[]}} Comparison */

/** @param {Comparison} comparison */
export function comparisonOf(comparison) {
  return h(
    "div",
    { class: "stack", data: { test: "compare" } },
    figuresOf(comparison.figures),
    h("p", { class: "soft" }, "The same queries, drawn by chance, and what they find. A mark shows what the old model did not find."),
    h("ol", { class: "queries" }, ...comparison.queries.map(queryOf)),
  );
}

/** @param {import("../base/server.js").Figures | null} figures */
export function figuresOf(figures) {
  if (!figures) {
    return h("p", { class: "figure-line" }, "Too few answers are kept back to give a figure yet. Judge by the pictures.");
  }
  const { before, after, gain, error } = figures;
  const kind = gain > error ? "better" : gain < -error ? "worse" : "same";
  const words = { better: "better", worse: "worse", same: "as good as the same" }[kind];
  return h(
    "div",
    { class: "figures", data: { test: "figures" } },
    h(
      "dl",
      {},
      figure("Before", percent(before.auc)),
      figure("After", percent(after.auc)),
      figure(words, `${gain < 0 ? "−" : "+"}${percent(Math.abs(gain))}`, kind),
    ),
    h(
      "p",
      { class: "soft" },
      "How often a pair that you called alike is nearer than one that you called not alike, ",
      `on ${count(after.pairs, "pair")} that no model has learned from: 50 % is chance. `,
      `The change may be off by ${percent(error)}.`,
    ),
  );
}

/** @param {number} share */
const percent = (share) => `${(share * 100).toFixed(1)} %`;

/**
 * @param {string} name
 * @param {string} value
 * @param {string} [kind]
 */
const figure = (name, value, kind = "") => h("div", { class: `figure ${kind}` }, h("dt", {}, name), h("dd", {}, value));

/** @param {{id: string, before: Near[], after: Near[]}} query */
function queryOf(query) {
  const old = new Set(query.before.map((hit) => hit.id));
  return h(
    "li",
    { class: "compared", data: { test: "compared" } },
    h("figure", { class: "compared-query" }, thumb(query.id), h("figcaption", { class: "full-name" }, query.id)),
    side("Before", query.before, () => false),
    side("After", query.after, (id) => !old.has(id)),
  );
}

/**
 * @param {string} title
 * @param {Near[]} hits
 * @param {(id: string) => boolean} isNew
 */
function side(title, hits, isNew) {
  const tiles = hits.map((hit) =>
    h(
      "li",
      { class: isNew(hit.id) ? "frame new" : "frame", title: hit.id },
      thumb(hit.id, `${hit.id}, distance ${hit.distance}${isNew(hit.id) ? ", new" : ""}`),
      h("span", { class: "badge", "aria-hidden": "true" }, hit.distance),
    ),
  );
  return h("div", { class: "compared-side" }, h("h3", {}, title), h("ol", { class: "strip" }, ...tiles));
}

/**
 * @param {string} id
 * @param {string} [alt]
 */
const thumb = (id, alt = "") => thumbnail({ id, meta: {}, picture: true }, THUMB, alt);
