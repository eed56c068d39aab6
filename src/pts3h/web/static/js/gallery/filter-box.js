/** Conditions on what is known of items: `price < 100`, `colour == red`. All must hold. */

import { button, field, select } from "../base/controls.js";
import { fill, freshId, h } from "../base/dom.js";
import { count } from "../base/words.js";

const OPS = { "==": "is", "!=": "is not", "<": "below", "<=": "at most", ">": "above", ">=": "at least" };

/** @typedef {import("./asked.js").Condition} Condition */

export class FilterBox {
  /** @param {(where: Condition[]) => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Condition[]} */
    this.where = [];
    const known = freshId("known");
    this.summary = h("summary", { data: { test: "filter" } }, "Filter");
    this.list = h("ul", { class: "conditions" });
    this.field = input("field", "colour");
    this.field.setAttribute("list", known);
    this.known = h("datalist", { id: known });
    this.op = select(freshId("op"), "filter-op", Object.entries(OPS), () => {});
    this.value = input("value", "red");
    const form = h(
      "form",
      { class: "condition", data: { test: "filter-form" } },
      field("Field", this.field),
      field("Is", this.op),
      field("Value", this.value),
      this.known,
      h("button", { class: "primary", data: { test: "filter-add" } }, "Add"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.add();
    });
    this.element = /** @type {HTMLDetailsElement} */ (
      h("details", { class: "fold" }, this.summary, h("div", { class: "drop" }, this.list, form))
    );
    this.element.addEventListener("keydown", (event) => this.leave(event));
    document.addEventListener("click", (event) => {
      if (event.isTrusted && !this.element.contains(/** @type {Node} */ (event.target))) this.element.open = false;
    });
  }

  /**
   * @param {Condition[]} where
   * @param {Iterable<string>} fields that items are known to have
   */
  show(where, fields) {
    this.where = where;
    this.summary.textContent = where.length ? `Filter (${where.length})` : "Filter";
    this.summary.setAttribute("aria-label", where.length ? `Filter, ${count(where.length, "condition")}` : "Filter");
    fill(this.known, ...[...fields].map((name) => h("option", { value: name })));
    fill(this.list, ...where.map((condition) => this.row(condition)));
    this.list.hidden = !where.length;
  }

  add() {
    const condition = { field: this.field.value.trim(), op: this.op.value, value: read(this.value.value) };
    this.field.value = this.value.value = "";
    this.field.focus();
    this.changed([...this.where, condition]);
  }

  /** @param {Condition} condition */
  row(condition) {
    const { field, op, value } = condition;
    const words = `${field} ${OPS[/** @type {keyof typeof OPS} */ (op)] ?? op} ${value}`;
    const remove = () => this.changed(this.where.filter((other) => other !== condition));
    return h(
      "li",
      {},
      h("span", {}, words),
      button("×", "filter-remove", remove, { kind: "icon", label: `Without: ${words}` }),
    );
  }

  /** @param {KeyboardEvent} event */
  leave(event) {
    if (event.key !== "Escape" || !this.element.open) return;
    event.preventDefault();
    event.stopPropagation();
    this.element.open = false;
    this.summary.focus();
  }
}

/**
 * Numbers and true or false are meant as such; "12" in quotes is text.
 * @param {string} text
 */
function read(text) {
  try {
    const value = JSON.parse(text);
    return ["number", "boolean", "string"].includes(typeof value) ? value : text;
  } catch {
    return text.trim();
  }
}

/**
 * @param {string} stem
 * @param {string} placeholder
 */
function input(stem, placeholder) {
  const more = { autocomplete: "off", spellcheck: false, required: true, data: { test: `filter-${stem}` } };
  return /** @type {HTMLInputElement} */ (h("input", { id: freshId(stem), placeholder, ...more }));
}
