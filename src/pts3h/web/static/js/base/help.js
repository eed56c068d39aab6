/** The keys, in a dialog. */

import { h } from "./dom.js";

/** @type {[string, string[][]][]} */
const KEYS = [
  ["Anywhere", [["/", "find by name"], ["Ctrl V", "search with the picture you copied"], ["?", "this list"]]],
  [
    "Pictures",
    [
      ["← ↑ → ↓", "move, also Home, End, Page Up, Page Down"],
      ["Enter", "search with a picture; in results: look at it"],
      ["j  k", "in the panel: next hit, hit before"],
      ["y  n", "is it like the query? yes, no"],
      ["+  −", "more like this, not like this"],
      ["p", "take the last answer back"],
      ["Esc", "close, then clear the search"],
    ],
  ],
  [
    "Teach",
    [
      ["1 … 9", "it belongs to this group"],
      ["0", "it begins a new group"],
      ["g", "it belongs to a group that has no key"],
      ["y  n", "these two are alike, are not"],
      ["u", "unsure: never ask again"],
      ["p", "back: take the last answer back"],
      ["z", "enlarge both"],
    ],
  ],
];

const dialog = /** @type {HTMLDialogElement} */ (
  h(
    "dialog",
    { class: "box", "aria-labelledby": "keys-title" },
    h(
      "form",
      { method: "dialog", class: "row between" },
      h("h2", { id: "keys-title" }, "Keys"),
      h("button", { class: "icon", "aria-label": "Close" }, "×"),
    ),
    h("div", { class: "key-tables" }, ...KEYS.map(([title, rows]) => table(title, rows))),
  )
);

/**
 * @param {string} title
 * @param {string[][]} rows
 */
function table(title, rows) {
  return h(
    "section",
    {},
    h("h3", {}, title),
    h("dl", { class: "keys" }, ...rows.flatMap(([key, what]) => [h("dt", {}, ...caps(key)), h("dd", {}, what)])),
  );
}

/** @param {string} key */
function caps(key) {
  return key.split(/ +/).map((one) => h("kbd", {}, one));
}

export function showHelp() {
  if (!dialog.isConnected) document.body.append(dialog);
  dialog.showModal();
}
