/** Pictures of items. Where none can be shown, the name stands in its place. */

import { h } from "./dom.js";
import * as server from "./server.js";
import { openSession } from "./token.js";

/**
 * @param {import("./server.js").Item} item
 * @param {number} width CSS pixels that it will take
 * @param {string} [alt] empty where the name stands beside it
 */
export function thumbnail(item, width, alt = "") {
  if (!item.picture) return standIn(item.id);
  const pixels = width * Math.min(devicePixelRatio, 2);
  const size = pixels <= 64 ? 64 : pixels <= 128 ? 128 : 256;
  return loaded(server.thumbnail(item.id, size), alt, item.id);
}

/** @param {import("./server.js").Item} item */
export function large(item) {
  return item.picture ? loaded(server.picture(item.id), item.id, item.id) : standIn(item.id);
}

/** Fetches pictures that will be shown soon. */
export function preload(/** @type {string[]} */ addresses) {
  for (const address of addresses) new Image().src = address;
}

/** What is no longer shown need not arrive. */
export function forget(/** @type {Element} */ element) {
  for (const image of element.querySelectorAll("img")) if (!image.complete) image.removeAttribute("src");
}

/**
 * @param {string} source
 * @param {string} alt
 * @param {string} id
 */
function loaded(source, alt, id) {
  const image = /** @type {HTMLImageElement} */ (h("img", { alt, decoding: "async", draggable: false, src: source }));
  let again = true;
  image.addEventListener("error", async () => {
    if (!image.hasAttribute("src")) return; // forgotten
    if (again && (await openSession())) image.src = source;
    else image.replaceWith(standIn(id));
    again = false;
  });
  return image;
}

/** @param {string} name */
function standIn(name) {
  return h("span", { class: "no-picture", "aria-hidden": "true" }, name);
}
