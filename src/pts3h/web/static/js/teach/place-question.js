/** Which group does this picture belong to? The nearest groups, each with its key and a few examples. */

import { button } from "../base/controls.js";
import { h } from "../base/dom.js";
import { large, thumbnail } from "../base/pictures.js";
import { groupName } from "../base/words.js";
import { nameField } from "./name-field.js";

const EXAMPLE = 72;
export const MOST_GROUPS = 9;

/**
 * @param {import("../base/server.js").PlaceQuestion} question
 * @param {{place: (group: number) => void, rename: (group: number, name: string) => Promise<void>}} says
 */
export function placeQuestion(question, { place, rename }) {
  const { item } = question;
  const groups = question.groups.slice(0, MOST_GROUPS);
  return h(
    "div",
    { class: "placing", data: { test: "question", item: item.id } },
    h("figure", { class: "asked" }, large(item), h("figcaption", {}, h("p", { class: "full-name" }, item.id), h("p", {}, question.why))),
    groups.length
      ? h("ol", { class: "cards" }, ...groups.map((group, at) => card(group, at + 1, place, rename)))
      : h(
          "p",
          { class: "first-group" },
          "There is no group yet. Press ",
          h("kbd", {}, "0"),
          " to begin one with this picture; pictures that belong together come together from here.",
        ),
  );
}

/**
 * @param {import("../base/server.js").NearGroup} group
 * @param {number} key
 * @param {(group: number) => void} place
 * @param {(group: number, name: string) => Promise<void>} rename
 */
function card(group, key, place, rename) {
  const examples = (group.examples ?? []).map((item) => h("span", { class: "example" }, thumbnail(item, EXAMPLE)));
  const title = nameField(group, rename);
  const choose = button(
    [h("kbd", {}, key), h("span", { class: "examples" }, ...examples)],
    `group-${key}`,
    () => place(group.group),
    { kind: "card-button", label: `${key}: ${groupName(group)}` },
  );
  return h("li", { class: "card", data: { group: group.group } }, title, choose);
}
