/** The groups that were made: named, merged, split. Each change can be taken back like an answer. */

import { button, field, select } from "../base/controls.js";
import { fill, freshId, h } from "../base/dom.js";
import { nameOfMine } from "../base/me.js";
import { complain, remark } from "../base/notices.js";
import { thumbnail } from "../base/pictures.js";
import { request } from "../base/request.js";
import { save } from "../base/save.js";
import * as server from "../base/server.js";
import { learned } from "../base/state.js";
import { count, groupName } from "../base/words.js";
import { nameField } from "./name-field.js";

const SHOWN = 24; // pictures of a group, until all are asked for
const THUMB = 84;

/** @typedef {{group: number, name: string | null, items: string[]}} Group */

export class GroupsPanel {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Group[]} */
    this.groups = [];
    this.overruled = h("div");
    this.list = h("ul", { class: "groups" });
    const plain = button("Answers as CSV", "export", () => void this.download(false));
    const implied = button("… with pairs that follow", "export-implied", () => void this.download(true), { kind: "quiet" });
    this.element = h("div", { class: "my-groups stack", data: { test: "my-groups" } }, h("div", { class: "row wrap" }, plain, implied, h("span", { class: "grow" }), nameOfMine()), this.overruled, this.list);
  }

  async show() {
    await this.act(() => server.groups(), null);
  }

  /**
   * @param {() => Promise<{groups: Group[], overruled: string[], counts?: server.Counts}>} change
   * @param {string | null} said
   */
  async act(change, said) {
    try {
      const { groups, overruled, counts } = await change();
      this.groups = groups;
      fill(this.overruled, overruled.length > 0 && contradicted(overruled));
      if (counts) learned({ counts });
      this.draw();
      if (!said) return;
      this.changed();
      remark(said, { label: "Take back", act: () => void this.takeBack() });
    } catch (error) {
      complain(error);
    }
  }

  async takeBack() {
    await this.act(async () => {
      const { counts } = await server.undo();
      return { ...(await server.groups()), counts };
    }, null);
    this.changed();
  }

  draw() {
    const empty = h("p", { class: "empty" }, "No group yet. Answer some questions first.");
    fill(this.list, ...(this.groups.length ? this.groups.map((group) => this.card(group)) : [h("li", {}, empty)]));
  }

  /** @param {Group} group */
  card(group) {
    /** @type {Set<string>} */
    const chosen = new Set();
    const split = button("Split off the chosen", "split", () => {
      void this.act(() => server.splitGroup(group.group, [...chosen]), `${count(chosen.size, "picture")} now form a group of their own.`);
    });
    split.disabled = true;
    const members = h("div", { class: "members" });
    const draw = (/** @type {number} */ most) => {
      const boxes = group.items.slice(0, most).map((id) => this.member(id, chosen, () => (split.disabled = !chosen.size || chosen.size === group.items.length)));
      const rest = group.items.length - most;
      fill(members, ...boxes, rest > 0 && button(`${rest} more`, "all-members", () => draw(Infinity), { kind: "quiet" }));
    };
    draw(SHOWN);
    const size = h("span", { class: "soft" }, count(group.items.length, "picture"));
    return h(
      "li",
      { class: "group-card", data: { test: "my-group", group: group.group } },
      nameField(group, (number, name) => this.rename(number, name), size),
      members,
      h("div", { class: "row wrap" }, split, this.mergeChoice(group)),
    );
  }

  /**
   * @param {string} id
   * @param {Set<string>} chosen
   * @param {() => void} changed
   */
  member(id, chosen, changed) {
    const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", "aria-label": id, data: { test: "member" } }));
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(id);
      else chosen.delete(id);
      changed();
    });
    return h("label", { class: "member", title: id }, box, thumbnail({ id, meta: {}, picture: true }, THUMB));
  }

  /** @param {Group} group */
  mergeChoice(group) {
    const others = this.groups.filter((other) => other.group !== group.group);
    if (!others.length) return null;
    const id = freshId("merge");
    const names = /** @type {[number, string][]} */ (others.map((other) => [other.group, groupName(other)]));
    const choice = select(id, "merge", [["", "another group…"], ...names], (into) => {
      if (!into) return;
      const target = others.find((other) => other.group === Number(into));
      void this.act(() => server.mergeGroup(group.group, Number(into)), `${groupName(group)} is now part of ${groupName(target ?? group)}.`);
    });
    return field("Merge into", choice);
  }

  /**
   * @param {number} group
   * @param {string} name
   */
  async rename(group, name) {
    await server.nameGroup(group, name);
    this.changed();
  }

  /** @param {boolean} implied */
  async download(implied) {
    try {
      const answer = await request(`/api/answers.csv?implied=${implied}`);
      save("answers.csv", await answer.text(), "text/csv");
    } catch (error) {
      complain(error);
    }
  }
}

/**
 * Answers that do not count, each with the chain that says otherwise.
 * @param {string[]} overruled
 */
function contradicted(overruled) {
  const said = count(overruled.length, "answer");
  const verb = overruled.length === 1 ? "contradicts" : "contradict";
  return h(
    "details",
    { class: "overruled", data: { test: "overruled" } },
    h("summary", {}, `${said} ${verb} newer ones and will not count`),
    h("ul", {}, ...overruled.map((text) => h("li", {}, text))),
  );
}
