/** Buttons and fields with their labels. */

import { h } from "./dom.js";

/**
 * @param {import("./dom.js").Child | import("./dom.js").Child[]} content
 * @param {string} test
 * @param {() => void} act
 * @param {{kind?: string, label?: string, hidden?: boolean}} [more] label: where the content is only a sign
 * @returns {HTMLButtonElement}
 */
export function button(content, test, act, { kind = "", label, hidden = false } = {}) {
  const children = Array.isArray(content) ? content : [content];
  const properties = { type: "button", class: kind, hidden, "aria-label": label, data: { test }, on: { click: act } };
  return /** @type {HTMLButtonElement} */ (h("button", properties, ...children));
}

/**
 * @param {string} text
 * @param {HTMLElement} control with an id
 * @param {...import("./dom.js").Child} after
 */
export function field(text, control, ...after) {
  return h("div", { class: "field" }, h("label", { htmlFor: control.id }, text), control, ...after);
}

/**
 * @param {string} id
 * @param {string} test
 * @param {[string | number, string][]} choices value and words
 * @param {(value: string) => void} chosen
 * @returns {HTMLSelectElement}
 */
export function select(id, test, choices, chosen) {
  const options = choices.map(([value, words]) => h("option", { value }, words));
  const element = /** @type {HTMLSelectElement} */ (h("select", { id, data: { test } }, ...options));
  element.addEventListener("change", () => chosen(element.value));
  return element;
}

/** The words of a button with the key that does the same. */
export const withKey = (/** @type {string} */ key, /** @type {string} */ words) => [h("kbd", {}, key), words];
