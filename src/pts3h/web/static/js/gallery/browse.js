/** All items, or those with a part of a name: as many as there are, a screenful in the document. */

import { h } from "../base/dom.js";
import { complain } from "../base/notices.js";
import { Pages } from "../base/pages.js";
import * as server from "../base/server.js";
import { Grid } from "./grid.js";
import { itemTile } from "./tiles.js";

const PLACE = "pts3h.gallery"; // where a reloaded page goes on

export class Browse {
  /**
   * @param {{chosen: (item: server.Item) => void, named: (name: string) => void, counted: (total: number) => void}} says
   */
  constructor({ chosen, named, counted }) {
    this.names = "";
    /** @type {object | null} */
    this.where = null;
    this.counted = counted;
    /** @type {Pages<server.Item>} */
    this.pages = new Pages(
      (offset, limit, signal) => server.items({ offset, limit, names: this.names, where: this.where }, signal),
      (from, to) => this.arrived(from, to),
      complain,
    );
    this.scroller = h("div", { class: "scroller", data: { test: "gallery" } });
    this.grid = new Grid(this.scroller, "All pictures", {
      tile: (index, size) => {
        const item = this.pages.at(index);
        return item ? itemTile(item, size) : null;
      },
      chosen: (index) => {
        const item = this.pages.at(index);
        if (item) chosen(item);
      },
      focused: (index) => named(this.pages.at(index)?.id ?? ""),
      wanted: (from, to) => {
        this.pages.want(from, to);
        this.remember();
      },
    });
    this.empty = h("p", { class: "empty", hidden: true, data: { test: "empty" } });
    this.scroller.append(this.grid.content, this.empty);
    this.started = false;
  }

  /**
   * @param {string} names
   * @param {object | null} where
   */
  async show(names, where) {
    const same = names === this.names && JSON.stringify(where) === JSON.stringify(this.where);
    if (this.started && same) {
      this.grid.scroll.settle();
      return;
    }
    const back = this.started ? 0 : this.remembered(names);
    this.names = names;
    this.where = where;
    this.started = true;
    await this.pages.start();
    this.grid.moveTo(back);
  }

  /** Asks again for all that is shown: the collection may be another one. */
  async reload() {
    const first = this.grid.first;
    await this.pages.start();
    this.grid.moveTo(first);
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  arrived(from, to) {
    const { total } = this.pages;
    if (total !== this.grid.count) this.grid.setCount(total);
    this.grid.redraw(from, to);
    this.empty.hidden = total > 0;
    this.empty.textContent = this.nothing;
    this.counted(total);
  }

  get nothing() {
    if (this.where) return "No picture passes the filter. Take a condition out.";
    return this.names ? `No name has “${this.names}” in it.` : "There is no picture here yet.";
  }

  remember() {
    sessionStorage.setItem(PLACE, JSON.stringify({ names: this.names, first: this.grid.first }));
  }

  /** @param {string} names */
  remembered(names) {
    const kept = JSON.parse(sessionStorage.getItem(PLACE) ?? "{}");
    return kept.names === names ? Number(kept.first) || 0 : 0;
  }
}
