/** One hit from near: the picture, what it is, why it matched, and what can be done with it. */

import { button, withKey } from "../base/controls.js";
import { fill, h } from "../base/dom.js";
import { complain } from "../base/notices.js";
import { large } from "../base/pictures.js";
import * as server from "../base/server.js";
import { status } from "../base/state.js";
import { fileSize, groupName } from "../base/words.js";
import { explanation } from "./why.js";

/**
 * @typedef {object} PanelSays
 * @property {() => void} close
 * @property {(step: number) => void} step to the hit before or after
 * @property {(id: string) => void} search
 * @property {(id: string, side: "like" | "unlike") => void} add
 * @property {(similar: boolean) => void} answer
 *
 * @typedef {object} Shown
 * @property {server.Hit} hit
 * @property {{other: string} | {code: string} | null} query what to explain it against
 * @property {boolean} answerable
 * @property {boolean | undefined} answer
 * @property {string} why not answerable
 */

export class Panel {
  /** @param {PanelSays} says */
  constructor(says) {
    this.says = says;
    this.picture = h("div", { class: "large" });
    this.title = h("h2", { class: "full-name", tabindex: -1, data: { test: "panel-name" } });
    this.facts = h("dl", { class: "facts" });
    this.asked = h("p", {});
    this.yes = choice("Yes", "y", "alike", () => says.answer(true));
    this.no = choice("No", "n", "apart", () => says.answer(false));
    const question = h(
      "div",
      { class: "question", role: "group", "aria-label": "Is it like the query?" },
      this.asked,
      this.yes,
      this.no,
    );
    this.why = h("div", { "aria-live": "polite" });
    /** @type {server.Hit | null} */
    this.hit = null;
    const id = () => this.hit?.id ?? "";
    this.element = h(
      "aside",
      { class: "panel", "aria-label": "The hit", hidden: true, data: { test: "panel" } },
      h(
        "div",
        { class: "row panel-head" },
        button("‹", "before", () => says.step(-1), { kind: "icon", label: "Hit before" }),
        button("›", "after", () => says.step(1), { kind: "icon", label: "Next hit" }),
        h("span", { class: "grow" }),
        button("×", "close", says.close, { kind: "icon", label: "Close" }),
      ),
      question,
      this.picture,
      this.title,
      h(
        "div",
        { class: "deeds" },
        button("Search with this", "search-with", () => says.search(id())),
        button("+ More like this", "more-like", () => says.add(id(), "like")),
        button("− Not like this", "not-like", () => says.add(id(), "unlike")),
      ),
      this.facts,
      h("h3", {}, "Why did this match?"),
      this.why,
    );
  }

  /** @param {Shown} shown */
  show(shown) {
    const { hit } = shown;
    this.element.hidden = false;
    const other = this.hit?.id !== hit.id;
    this.hit = hit;
    this.ask(shown);
    if (!other) return;
    fill(this.picture, large(hit));
    this.title.textContent = hit.id;
    fill(this.facts, ...facts({ Distance: hit.distance, ...plain(hit.meta) }));
    fill(this.why, h("p", { class: "soft" }, "Looking…"));
    void this.learnMore(shown);
  }

  hide() {
    this.element.hidden = true;
    this.hit = null;
  }

  /** @param {Shown} shown */
  ask({ answerable, answer, why }) {
    this.asked.textContent = answerable ? "Is it like the query?" : why;
    for (const [one, value] of /** @type {[HTMLElement, boolean][]} */ ([[this.yes, true], [this.no, false]])) {
      one.hidden = !answerable;
      one.setAttribute("aria-pressed", String(answer === value));
    }
  }

  /** @param {Shown} shown */
  async learnMore({ hit, query }) {
    try {
      const [item, why] = await Promise.all([
        server.item(hit.id),
        query && server.explain({ id: hit.id, ...query }),
      ]);
      if (this.hit !== hit) return;
      fill(
        this.facts,
        ...facts({
          Distance: hit.distance,
          "By meaning": why?.by.meaning,
          "By look": why?.by.look,
          Size: item.width && `${item.width} × ${item.height} pixels, ${fileSize(item.bytes)}`,
          Group: typeof item.group === "number" ? groupName({ group: item.group, name: item.group_name }) : null,
          ...plain(item.meta),
        }),
      );
      fill(this.why, why && explanation(why, status()));
    } catch (error) {
      if (this.hit === hit) fill(this.why);
      complain(error);
    }
  }
}

/**
 * @param {string} words
 * @param {string} key
 * @param {"alike" | "apart"} kind
 * @param {() => void} act
 */
const choice = (words, key, kind, act) => button(withKey(key, words), words.toLowerCase(), act, { kind });

/** @param {Record<string, unknown>} values */
function facts(values) {
  return Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]);
}

/** @param {Record<string, unknown>} meta */
function plain(meta) {
  return Object.fromEntries(
    Object.entries(meta).map(([key, value]) => [key, typeof value === "object" ? JSON.stringify(value) : value]),
  );
}
