/** Who answers: a name that this browser remembers, sent along with every answer. */

import { field } from "./controls.js";
import { freshId, h } from "./dom.js";

const KEY = "pts3h-who";
const LONGEST = 100;
let name = "";
try {
  name = localStorage.getItem(KEY) ?? "";
} catch {
  // a browser may keep nothing: the name then lasts as long as the page
}

export const me = () => name;

export function nameOfMine() {
  const input = /** @type {HTMLInputElement} */ (
    h("input", { id: freshId("me"), value: name, maxLength: LONGEST, placeholder: "nobody in particular", autocomplete: "off", data: { test: "who" } })
  );
  input.addEventListener("change", () => {
    name = input.value.trim();
    try {
      localStorage.setItem(KEY, name);
    } catch {
      // see above
    }
  });
  return field("Answers are from", input);
}
