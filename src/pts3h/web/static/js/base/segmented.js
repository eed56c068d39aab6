/** A few choices side by side, of which one holds: radio buttons that look like one control. */

import { freshId, h } from "./dom.js";

/**
 * @param {string} test
 * @param {string} label
 * @param {Record<string, string>} choices value to words
 * @param {(value: string) => void} chosen
 */
export function segmented(test, label, choices, chosen) {
  const name = freshId(test);
  /** @type {Map<string, HTMLInputElement>} */
  const inputs = new Map();
  const element = h("div", { class: "segmented", role: "radiogroup", "aria-label": label });
  for (const [value, words] of Object.entries(choices)) {
    const input = /** @type {HTMLInputElement} */ (
      h("input", { type: "radio", name, value, data: { test: `${test}-${value}` } })
    );
    input.addEventListener("change", () => chosen(value));
    inputs.set(value, input);
    element.append(h("label", {}, input, h("span", {}, words)));
  }
  return {
    element,
    /** @param {string} value */
    set(value) {
      const input = inputs.get(value);
      if (input) input.checked = true;
    },
  };
}
