/** What a search found: hits with their distances, more on demand. */

import { button } from "../base/controls.js";
import { h } from "../base/dom.js";
import { complain } from "../base/notices.js";
import * as server from "../base/server.js";
import { status } from "../base/state.js";
import { body } from "./asked.js";
import { Grid } from "./grid.js";
import { hitTile } from "./tiles.js";

/** @typedef {import("./asked.js").Asked} Asked */
/** @typedef {{hits: server.Hit[], total: number | null, took_ms: number}} Found */

export class Results {
  /**
   * @param {{chosen: (index: number) => void, focused: (index: number) => void, changed: () => void,
   *   answer: (id: string) => boolean | undefined, side: (id: string) => string}} says
   */
  constructor({ chosen, focused, changed, answer, side }) {
    /** @type {server.Hit[]} */
    this.hits = [];
    /** @type {Asked | null} */
    this.asked = null;
    this.open = -1; // the hit that the panel shows
    this.whole = false; // whether there is nothing more to ask for
    this.took = 0;
    /** @type {number | null} */
    this.total = null;
    this.changed = changed;
    this.scroller = h("div", { class: "scroller", data: { test: "results" }, hidden: true });
    this.grid = new Grid(this.scroller, "Hits, nearest first", {
      tile: (index, size) => {
        const hit = this.hits[index];
        return hit ? hitTile(hit, size, { answer: answer(hit.id), open: index === this.open, side: side(hit.id) }) : null;
      },
      chosen,
      focused,
    });
    this.more = button("More", "more", () => void this.loadMore(), { kind: "more", hidden: true });
    this.empty = h("p", { class: "empty", hidden: true, data: { test: "no-hits" } });
    this.scroller.append(this.grid.content, this.empty, this.more);
  }

  /**
   * @param {Asked} asked
   * @param {Found | null} found the first hits, where an upload already brought them
   */
  async show(asked, found) {
    this.asked = asked;
    this.scroller.setAttribute("aria-busy", "true");
    try {
      const first = found ?? (await server.search(body(asked, 0)));
      if (this.asked !== asked) return false; // another search was started meanwhile
      this.hits = [];
      this.open = -1;
      this.take(first);
      this.grid.activate(0);
      this.grid.moveTo(0);
      return true;
    } finally {
      if (this.asked === asked) this.scroller.removeAttribute("aria-busy");
    }
  }

  async loadMore() {
    const asked = this.asked;
    const before = this.hits.length;
    if (!asked || this.whole) return;
    try {
      const found = await server.search(body(asked, before));
      if (this.asked !== asked || this.hits.length !== before) return;
      this.take(found);
      this.grid.focus(before);
    } catch (error) {
      complain(error);
    }
  }

  /** @param {Found} found */
  take(found) {
    const asked = /** @type {Asked} */ (this.asked);
    this.hits.push(...found.hits);
    this.total = found.total;
    this.took = found.took_ms;
    this.whole = found.total === null ? found.hits.length < asked.k : this.hits.length >= found.total;
    this.grid.setCount(this.hits.length);
    this.more.hidden = this.whole || !this.hits.length || this.hits.length + asked.k > status().limits.window;
    this.empty.hidden = this.hits.length > 0;
    this.empty.textContent =
      asked.radius === null
        ? "Nothing was found. Loosen the filter."
        : "Nothing is that near. Allow a greater distance, or loosen the filter.";
    this.changed();
  }

  /** @param {number} index */
  mark(index) {
    const before = this.open;
    this.open = index;
    for (const one of [before, index]) if (one >= 0) this.grid.redraw(one, one + 1);
  }
}
