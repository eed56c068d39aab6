/** There are nine keys, and may be more groups: those that are not near enough for a key are in a list. */

import { field, select } from "../base/controls.js";
import { fill, freshId, h } from "../base/dom.js";
import * as server from "../base/server.js";
import { count, groupName } from "../base/words.js";

export class OtherGroups {
  /** @param {(group: number) => void} place */
  constructor(place) {
    this.choice = select(freshId("other"), "other-group", [], (group) => {
      this.choice.blur(); // so that keys are answers again
      if (group) place(Number(group));
    });
    this.element = field("Another group", this.choice);
    this.element.hidden = true;
  }

  /**
   * @param {server.PlaceQuestion} question
   * @param {number} all how many groups there are
   */
  async show(question, all) {
    this.element.hidden = all <= question.groups.length;
    if (this.element.hidden) return;
    const near = new Set(question.groups.map((group) => group.group));
    const { groups } = /** @type {{groups: server.NearGroup[]}} */ (await server.groups());
    const others = groups.filter((group) => !near.has(group.group));
    others.sort((one, other) => groupName(one).localeCompare(groupName(other), "en", { numeric: true }));
    const options = others.map((group) => h("option", { value: group.group }, groupName(group)));
    fill(this.choice, h("option", { value: "" }, `one of ${count(others.length, "other")}…`), ...options);
  }

  focus() {
    if (!this.element.hidden) this.choice.focus();
  }
}
