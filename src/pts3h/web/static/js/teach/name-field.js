/** The name of a group, and a way to change it in place. */

import { button } from "../base/controls.js";
import { fill, h } from "../base/dom.js";
import { complain } from "../base/notices.js";
import { groupName } from "../base/words.js";

/**
 * @param {{group: number, name?: string | null}} group
 * @param {(group: number, name: string) => Promise<void>} rename
 * @param {import("../base/dom.js").Child} [after] stands behind the name
 */
export function nameField(group, rename, after) {
  const place = h("div", { class: "group-name" });
  const show = () => {
    const change = button("✎", "rename", edit, { kind: "icon", label: `Name ${groupName(group)}` });
    fill(place, h("b", {}, groupName(group)), after, change);
    return change;
  };
  const edit = () => {
    const input = /** @type {HTMLInputElement} */ (
      h("input", { value: group.name ?? "", maxLength: 100, "aria-label": "Name of the group", data: { test: "group-name" } })
    );
    const form = h("form", { class: "row grow" }, input, h("button", { class: "small" }, "Save"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void keep(input.value.trim());
    });
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      show().focus();
    });
    fill(place, form);
    input.focus();
    input.select();
  };
  const keep = async (/** @type {string} */ name) => {
    try {
      await rename(group.group, name);
      group.name = name;
      show().focus();
    } catch (error) {
      complain(error);
    }
  };
  show();
  return place;
}
