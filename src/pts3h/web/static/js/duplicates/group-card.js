/** One group of near-duplicates: its copies side by side, which stay and which go. */

import { h } from "../base/dom.js";
import { thumbnail } from "../base/pictures.js";
import { count, date, fileSize } from "../base/words.js";

const PICTURE = 168;

/** @typedef {import("./choices.js").Group} Group */
/** @typedef {import("./choices.js").Choices} Choices */

/**
 * @param {Group} group
 * @param {number} number
 * @param {Choices} choices
 * @param {() => void} changed
 */
export function groupCard(group, number, choices, changed) {
  const hidden = group.count - group.items.length;
  const title = `Group ${number}, ${count(group.count, "copy", "copies")}${hidden ? `, ${hidden} of them not shown` : ""}`;
  const choose = /** @type {HTMLInputElement} */ (
    h("input", { type: "checkbox", checked: choices.isChosen(group), data: { test: "choose-group" } })
  );
  const card = h("li", { class: "group-card", data: { test: "duplicate-group" } });
  const draw = () => {
    card.classList.toggle("chosen", choices.isChosen(group));
    choose.checked = choices.isChosen(group);
  };
  choose.addEventListener("change", () => {
    choices.choose(group, choose.checked);
    draw();
    changed();
  });
  const copies = group.items.map((copy) => copyTile(group, copy, choices, changed));
  card.append(h("label", { class: "group-head" }, choose, h("b", {}, title)), h("ul", { class: "copies" }, ...copies));
  draw();
  return card;
}

/**
 * @param {Group} group
 * @param {import("./choices.js").Copy} copy
 * @param {Choices} choices
 * @param {() => void} changed
 */
function copyTile(group, copy, choices, changed) {
  const keep = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", data: { test: "keep" } }));
  const word = h("span", {});
  const tile = h("li", { data: { test: "copy" } });
  const draw = () => {
    const kept = choices.keeps(group).has(copy.id);
    tile.className = kept ? "copy kept" : "copy dropped";
    keep.checked = kept;
    word.textContent = kept ? "keep" : "drop";
  };
  keep.addEventListener("change", () => {
    choices.keep(group, copy.id, keep.checked);
    draw();
    changed();
  });
  const size = copy.width ? `${copy.width} × ${copy.height}` : "";
  const facts = [size, fileSize(copy.bytes), date(copy.modified)].filter(Boolean);
  tile.append(
    h(
      "label",
      { class: "copy-label" },
      h(
        "span",
        { class: "frame" },
        thumbnail({ id: copy.id, meta: {}, picture: true }, PICTURE),
        copy.distance > 0 && h("span", { class: "badge" }, copy.distance),
      ),
      h("span", { class: "keep-line" }, keep, word),
      h("span", { class: "full-name" }, copy.id),
    ),
    h("p", { class: "soft small-text" }, facts.join(" · ")),
  );
  draw();
  return tile;
}
