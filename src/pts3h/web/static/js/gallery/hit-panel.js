/** Which hit is looked at, and the answers given to it: the panel beside the results, moving with them. */

import { onlyItem } from "./asked.js";
import { Marks } from "./marks.js";
import { Panel } from "./panel.js";

const NARROW = matchMedia("(max-width: 60rem)"); // as in style.css: there the panel covers the rest

/** @typedef {import("./asked.js").Asked} Asked */

export class HitPanel {
  /**
   * @param {import("./results.js").Results} results
   * @param {{asked: () => Asked, search: (id: string) => void,
   *   add: (id: string, side: "like" | "unlike") => void}} says
   */
  constructor(results, says) {
    this.results = results;
    this.says = says;
    this.marks = new Marks((id) => this.marked(id));
    this.panel = new Panel({
      close: () => this.close(),
      step: (step) => this.move(results.open + step),
      search: says.search,
      add: says.add,
      answer: (similar) => void this.answer(results.open, similar),
    });
    this.element = this.panel.element;
    /** @type {HTMLElement[]} what a covering panel makes unreachable */
    this.background = [];
    NARROW.addEventListener("change", () => this.cover());
  }

  get isOpen() {
    return this.results.open >= 0;
  }

  get keys() {
    return {
      y: () => this.answerHere(true),
      n: () => this.answerHere(false),
      p: () => void this.marks.takeBack(),
      "+": () => this.addHere("like"),
      "-": () => this.addHere("unlike"),
      j: () => this.isOpen && this.move(this.results.open + 1),
      k: () => this.isOpen && this.move(this.results.open - 1),
    };
  }

  /** @param {number} index */
  open(index) {
    const hit = this.results.hits[index];
    if (!hit) return;
    const first = !this.isOpen;
    this.results.mark(index);
    this.render(hit);
    this.cover();
    if (first && NARROW.matches) this.panel.title.focus();
  }

  /** The focus moved to another hit: what is shown follows. */
  follow(/** @type {number} */ index) {
    if (this.isOpen && index !== this.results.open) this.open(index);
  }

  close({ focus = true } = {}) {
    if (!this.isOpen) return;
    const index = this.results.open;
    this.results.mark(-1);
    this.panel.hide();
    this.cover();
    if (focus) this.results.grid.focus(index);
  }

  /** @param {number} index */
  move(index) {
    if (index < 0 || index >= this.results.hits.length) return;
    if (NARROW.matches) this.open(index);
    else this.results.grid.focus(index); // what is shown follows
  }

  cover() {
    for (const part of this.background) part.toggleAttribute("inert", this.isOpen && NARROW.matches);
  }

  /** @param {import("../base/server.js").Hit} hit */
  render(hit) {
    const asked = this.says.asked();
    const item = onlyItem(asked);
    const why = this.whyNot(hit.id);
    const code = asked.code ? { code: asked.code } : null;
    const query = asked.like.length ? { other: asked.like[0] } : code;
    this.panel.show({ hit, query, answerable: !why, answer: this.marks.get(item, hit.id), why });
  }

  /**
   * @param {string} id
   * @returns {string} empty where an answer can be given
   */
  whyNot(id) {
    const asked = this.says.asked();
    if (!Marks.open) return "This server does not take answers.";
    if (asked.code) return "Your picture is not in the collection, so no answer can be kept about it.";
    if (onlyItem(asked) === null) return "An answer is about two pictures. Search with one to give it.";
    return onlyItem(asked) === id ? "This is the query itself." : "";
  }

  /** The hit that a key is about: the one in the panel, or the one with the focus. */
  get here() {
    if (this.isOpen) return this.results.open;
    const { grid } = this.results;
    return grid.content.contains(document.activeElement) ? grid.active : -1;
  }

  /** @param {boolean} similar */
  answerHere(similar) {
    if (this.here >= 0) void this.answer(this.here, similar);
  }

  /** @param {"like" | "unlike"} side */
  addHere(side) {
    const hit = this.results.hits[this.here];
    if (hit) this.says.add(hit.id, side);
  }

  /**
   * @param {number} index
   * @param {boolean} similar
   */
  async answer(index, similar) {
    const query = onlyItem(this.says.asked());
    const hit = this.results.hits[index];
    if (!hit || query === null || this.whyNot(hit.id)) return;
    if ((await this.marks.give(query, hit.id, similar)) && this.results.hits[index] === hit) this.move(index + 1);
  }

  /** @param {string} id */
  marked(id) {
    const index = this.results.hits.findIndex((hit) => hit.id === id);
    if (index < 0) return;
    this.results.grid.redraw(index, index + 1);
    if (index === this.results.open) this.render(this.results.hits[index]);
  }
}
