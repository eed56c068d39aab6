/** The query: pictures that hits should be like, and those they should not be like. Always in the same place. */

import { button } from "../base/controls.js";
import { fill, h } from "../base/dom.js";
import { thumbnail } from "../base/pictures.js";

const THUMB = 40;

/** @typedef {import("./asked.js").Asked} Asked */

export class Asking {
  /**
   * @param {{drop: (id: string) => void, dropCode: () => void, clear: () => void,
   *   preview: (code: string) => string | null}} says preview: the address of a picture that was uploaded
   */
  constructor(says) {
    this.says = says;
    this.element = h("div", { class: "asking", role: "group", "aria-label": "The query", data: { test: "query" } });
  }

  /**
   * @param {Asked} asked
   * @param {boolean} searching
   */
  show(asked, searching) {
    if (!searching) {
      fill(this.element, h("p", { class: "hint" }, "Click a picture to find what is like it, or drop or paste one here."));
      return;
    }
    const clear = button("Clear", "clear", this.says.clear, { kind: "quiet" });
    fill(
      this.element,
      h(
        "ul",
        { class: "chips" },
        asked.code && this.upload(asked.code),
        ...asked.like.map((id) => this.chip(id, "like")),
        ...asked.unlike.map((id) => this.chip(id, "unlike")),
      ),
      clear,
    );
  }

  /** @param {string} code */
  upload(code) {
    const preview = this.says.preview(code);
    const picture = preview ? h("img", { src: preview, alt: "" }) : h("span", { class: "no-picture" }, "yours");
    return h(
      "li",
      { class: "chip like", data: { test: "chip-upload" } },
      picture,
      h("span", { class: "name" }, preview ? "Your picture" : `A picture of yours, code ${code.slice(0, 8)}…`),
      cross("Search without your picture", this.says.dropCode),
    );
  }

  /**
   * @param {string} id
   * @param {"like" | "unlike"} side
   */
  chip(id, side) {
    const words = side === "like" ? "like" : "not like";
    return h(
      "li",
      { class: `chip ${side}`, data: { test: `chip-${side}` } },
      thumbnail({ id, meta: {}, picture: true }, THUMB),
      h("span", { class: "name", title: id }, h("b", {}, words), " ", id),
      cross(`Search without ${id}`, () => this.says.drop(id)),
    );
  }
}

/**
 * @param {string} label
 * @param {() => void} act
 */
const cross = (label, act) => button("×", "chip-remove", act, { kind: "icon", label });
