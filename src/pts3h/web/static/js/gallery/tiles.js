/** What a tile shows: the picture, its name, and for a hit how far it is. */

import { h } from "../base/dom.js";
import { thumbnail } from "../base/pictures.js";
import { shortened } from "../base/words.js";

const LETTER = 6.4; // CSS pixels that a letter of a caption takes, about
const LINES = 2;

/**
 * @param {import("../base/server.js").Item} item
 * @param {number} size
 */
export function itemTile(item, size) {
  return { label: item.id, content: [frame(item, size), caption(item.id, size)] };
}

/**
 * @param {import("../base/server.js").Hit} hit
 * @param {number} size
 * @param {{answer: boolean | undefined, open: boolean, side: string}} marks what is known of it in this search
 */
export function hitTile(hit, size, { answer, open, side }) {
  const said = answer === undefined ? "" : answer ? "alike" : "apart";
  const words = { "": "", alike: "you said: alike", apart: "you said: not alike" }[said];
  const badge = h("span", { class: "badge", data: { test: "distance" } }, hit.distance);
  const sign = said && h("span", { class: `sign ${said}` }, said === "alike" ? "✓" : "✕");
  const label = [hit.id, `distance ${hit.distance}`, words, side].filter(Boolean).join(", ");
  return {
    label,
    class: `${said} ${open ? "open" : ""}`,
    content: [frame(hit, size, badge, sign), caption(hit.id, size)],
  };
}

/**
 * @param {import("../base/server.js").Item} item
 * @param {number} size
 * @param {...import("../base/dom.js").Child} above
 */
function frame(item, size, ...above) {
  return h("span", { class: "frame" }, thumbnail(item, size), ...above);
}

/**
 * @param {string} name
 * @param {number} size
 */
function caption(name, size) {
  const most = Math.max(8, Math.floor(size / LETTER) * LINES - 2);
  return h("span", { class: "caption", title: name }, shortened(name, most));
}
