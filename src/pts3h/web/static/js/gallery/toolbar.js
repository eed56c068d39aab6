/** The controls above the pictures. They stay where they are, whatever is shown below. */

import { button, field, select } from "../base/controls.js";
import { freshId, h } from "../base/dom.js";
import { segmented } from "../base/segmented.js";
import { number } from "../base/words.js";
import { isSearch, PAGE } from "./asked.js";
import { FilterBox } from "./filter-box.js";
import { pickButton } from "./uploads.js";

const PAUSE = 250; // milliseconds after the last letter
/** @type {Record<string, string>} */
const BY = { both: "Both", meaning: "Meaning", look: "Look" };
const MANY = [PAGE, 48, 96, 192];

/** @typedef {import("./asked.js").Asked} Asked */

export class Toolbar {
  /**
   * @param {{change: (part: Partial<Asked>) => void, file: (file: File) => void}} says
   * @param {import("../base/server.js").Status} status
   */
  constructor({ change, file }, status) {
    /** @type {Record<string, number>} the largest distance by each part */
    this.farthest = { meaning: status.bits, look: status.look_bits, both: Infinity };
    this.most = status.limits.radius;
    this.find = /** @type {HTMLInputElement} */ (
      h("input", {
        type: "search",
        placeholder: "Find by name",
        "aria-label": "Find by name",
        autocomplete: "off",
        spellcheck: false,
        data: { test: "find" },
      })
    );
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.typed = undefined;
    this.find.addEventListener("input", () => {
      clearTimeout(this.typed);
      this.typed = setTimeout(() => change({ names: this.find.value.trim() }), PAUSE);
    });
    this.by = segmented("by", "Search by", Object.fromEntries(status.by.map((by) => [by, BY[by] ?? by])), (by) =>
      change({ by }),
    );
    this.by.element.hidden = !status.by.includes("look"); // without, both is meaning
    this.filter = new FilterBox((where) => change({ where }));
    const within = freshId("within");
    this.distance = h("output", { htmlFor: within });
    this.radius = /** @type {HTMLInputElement} */ (
      h("input", { id: within, type: "range", min: 0, data: { test: "radius" } })
    );
    this.radius.addEventListener("input", () => this.sayDistance());
    this.radius.addEventListener("change", () => change({ radius: this.chosenRadius }));
    const many = /** @type {[number, string][]} */ (MANY.filter((k) => k <= status.limits.k).map((k) => [k, number(k)]));
    this.many = select(freshId("many"), "k", many, (k) => change({ k: Number(k) }));
    const options = freshId("options");
    const fold = button("Options", "options", () => this.unfold(fold), { kind: "narrow-only" });
    fold.setAttribute("aria-controls", options);
    fold.setAttribute("aria-expanded", "false");
    this.element = h(
      "div",
      { class: "toolbar" },
      h("div", { class: "row grow finding" }, this.find, ...pickButton(file), fold),
      h(
        "div",
        { class: "row wrap options", id: options, role: "group", "aria-label": "How to search" },
        this.by.element,
        field("Within", this.radius, this.distance),
        field("Show", this.many),
        this.filter.element,
      ),
    );
  }

  /** In a narrow window the options are folded away until they are asked for. */
  unfold(/** @type {HTMLElement} */ fold) {
    fold.setAttribute("aria-expanded", String(this.element.classList.toggle("unfolded")));
  }

  /** @returns {number | null} null at the right end: any distance */
  get chosenRadius() {
    const value = Number(this.radius.value);
    return value >= Number(this.radius.max) ? null : value;
  }

  sayDistance() {
    const words = this.chosenRadius === null ? "any" : String(this.chosenRadius);
    this.distance.textContent = words;
    this.radius.setAttribute("aria-valuetext", words === "any" ? "any distance" : `distance ${words}`);
  }

  /**
   * @param {Asked} asked
   * @param {Iterable<string>} fields
   */
  show(asked, fields) {
    if (isSearch(asked)) clearTimeout(this.typed); // whoever went on meanwhile does not want to be led back
    if (document.activeElement !== this.find) this.find.value = asked.names;
    this.by.set(asked.by);
    const any = Math.min(this.farthest[asked.by] ?? 0, this.most) + 1;
    this.radius.max = String(any);
    this.radius.value = String(Math.min(asked.radius ?? any, any));
    this.sayDistance();
    if (![...this.many.options].some((option) => option.value === String(asked.k))) {
      this.many.append(h("option", { value: asked.k }, number(asked.k)));
    }
    this.many.value = String(asked.k);
    this.filter.show(asked.where, fields);
  }
}
