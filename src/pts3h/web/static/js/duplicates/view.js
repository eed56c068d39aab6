/** Near-duplicates: found by radius, kept by a rule, chosen in bulk, written into a list. No file is ever deleted. */

import { button, field, select } from "../base/controls.js";
import { fill, freshId, h } from "../base/dom.js";
import { announce, complain, remark } from "../base/notices.js";
import { save } from "../base/save.js";
import { segmented } from "../base/segmented.js";
import * as server from "../base/server.js";
import { status } from "../base/state.js";
import { count, number } from "../base/words.js";
import { asCsv, asNames, Choices, decisions } from "./choices.js";
import { groupCard } from "./group-card.js";

const PAGE = 30;
const MOST = 100; // groups of one request
const MOST_RADIUS = 16;
const FIRST_RADIUS = 2;
const RULES = {
  largest: "the largest",
  oldest: "the oldest",
  newest: "the newest",
  shortest_name: "the shortest name",
};
const BY = { look: "Look", both: "Both", meaning: "Meaning" };

export class DuplicatesView {
  constructor() {
    const { by, limits } = status();
    this.asked = { radius: FIRST_RADIUS, by: by.includes("look") ? "look" : by[0], keep: "largest" };
    this.choices = new Choices();
    /** @type {import("./choices.js").Group[]} */
    this.groups = [];
    this.total = 0;
    /** @type {AbortController | null} */
    this.loading = null;
    this.started = false;
    const most = Math.min(MOST_RADIUS, limits.radius);
    const radius = freshId("radius");
    const within = h("output", { htmlFor: radius }, FIRST_RADIUS);
    this.radius = /** @type {HTMLInputElement} */ (
      h("input", { id: radius, type: "range", min: 0, max: most, value: FIRST_RADIUS, data: { test: "duplicates-radius" } })
    );
    this.radius.addEventListener("input", () => (within.textContent = this.radius.value));
    this.radius.addEventListener("change", () => this.ask({ radius: Number(this.radius.value) }));
    const rule = select(freshId("rule"), "rule", Object.entries(RULES), (keep) => this.ask({ keep }));
    const known = Object.fromEntries(Object.entries(BY).filter(([name]) => by.includes(name)));
    const bySwitch = segmented("duplicates-by", "Alike by", known, (value) => this.ask({ by: value }));
    bySwitch.set(this.asked.by);
    bySwitch.element.hidden = !by.includes("look");
    this.line = h("p", { class: "line", role: "status", data: { test: "duplicates-line" } });
    this.list = h("ul", { class: "groups" });
    this.more = button("More groups", "duplicates-more", () => void this.load(), { hidden: true, kind: "more" });
    this.csv = button("List (CSV)", "write-csv", () => void this.write("csv"), { kind: "primary" });
    this.names = button("Names to drop", "write-names", () => void this.write("names"));
    this.chooseAll = button("Choose all", "choose-all", () => this.bulk(true));
    this.chooseNone = button("Choose none", "choose-none", () => this.bulk(false), { kind: "quiet" });
    this.element = h(
      "section",
      { class: "view duplicates", "aria-label": "Duplicates" },
      h(
        "div",
        { class: "controls" },
        h(
          "div",
          { class: "row wrap" },
          field("Distance at most", this.radius, within),
          bySwitch.element,
          field("Keep", rule),
        ),
        h("div", { class: "row wrap" }, this.chooseAll, this.chooseNone, h("span", { class: "grow" }), this.names, this.csv),
        h(
          "div",
          { class: "row wrap between" },
          this.line,
          h("p", { class: "promise" }, "No file is deleted: you get a list of what to keep and what to drop."),
        ),
      ),
      h("div", { class: "scroller padded", tabindex: 0, role: "region", "aria-label": "Groups of copies" }, this.list, this.more),
    );
  }

  async show() {
    if (this.started) return;
    this.started = true;
    await this.load();
  }

  get keys() {
    return {};
  }

  /** @param {Partial<{radius: number, by: string, keep: string}>} part */
  ask(part) {
    this.asked = { ...this.asked, ...part };
    this.choices.followRule();
    if (!("keep" in part)) this.choices.chooseAll(false); // other groups
    this.groups = [];
    void this.load();
  }

  /** The next groups. */
  async load() {
    this.loading?.abort();
    const control = (this.loading = new AbortController());
    const from = this.groups.length;
    this.list.setAttribute("aria-busy", "true");
    if (!from) this.line.textContent = "Looking for copies…";
    try {
      const found = await server.duplicates({ ...this.asked, offset: from, limit: PAGE }, control.signal);
      this.total = found.total;
      this.groups.push(...found.groups);
      if (!from) fill(this.list);
      const cards = found.groups.map((group, at) => groupCard(group, from + at + 1, this.choices, () => this.say()));
      this.list.append(...cards);
      if (from) cards[0]?.querySelector("input")?.focus();
      this.say();
      announce(this.line.textContent ?? "");
    } catch (error) {
      if (control.signal.aborted) return;
      this.started = from > 0; // the next visit tries again
      this.line.textContent = "";
      complain(error);
    }
    this.list.removeAttribute("aria-busy");
  }

  /** @param {boolean} all */
  bulk(all) {
    this.choices.chooseAll(all);
    for (const box of this.list.querySelectorAll("[data-test='choose-group']")) {
      /** @type {HTMLInputElement} */ (box).checked = all;
      box.closest(".group-card")?.classList.toggle("chosen", all);
    }
    this.say();
  }

  say() {
    const chosen = this.choices.chosenOf(this.total);
    const groups = count(this.total, "group");
    this.line.textContent = this.total ? `${groups} of copies, ${number(chosen)} chosen` : "No copies within this distance.";
    this.more.hidden = this.groups.length >= this.total;
    for (const one of [this.csv, this.names]) one.disabled = !chosen;
    for (const one of [this.chooseAll, this.chooseNone]) one.disabled = !this.total;
  }

  /**
   * Also groups that were not scrolled to are in the list.
   * @param {"csv" | "names"} kind
   */
  async write(kind) {
    try {
      const groups = [];
      for (let offset = 0; offset < this.total; offset += MOST) {
        groups.push(...(await server.duplicates({ ...this.asked, offset, limit: MOST })).groups);
      }
      const rows = decisions(groups, this.choices);
      const drops = rows.filter((row) => row.action === "drop").length;
      if (kind === "csv") save("duplicates.csv", asCsv(rows), "text/csv");
      else save("to-drop.txt", asNames(rows), "text/plain");
      remark(`Written: ${number(drops)} to drop, ${number(rows.length - drops)} to keep. No file was touched.`);
    } catch (error) {
      complain(error);
    }
  }
}
