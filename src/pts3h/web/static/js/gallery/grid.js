/** A grid of tiles of which only those in view, and a few rows around them, are in the document. */

import { h } from "../base/dom.js";
import { forget } from "../base/pictures.js";
import { geometry, moved } from "./geometry.js";
import { LongScroll } from "./long-scroll.js";

const AROUND = 3; // rows above and below those in view

/**
 * @typedef {object} Tiles what the grid shows
 * @property {(index: number, size: number) => {label: string, content: Node[], class?: string} | null} tile
 *   null while it is not here
 * @property {(index: number) => void} chosen by click or Enter
 * @property {(index: number) => void} [focused]
 * @property {(from: number, to: number) => void} [wanted] the stretch in view
 */

export class Grid {
  /**
   * @param {HTMLElement} scroller
   * @param {string} label
   * @param {Tiles} tiles
   */
  constructor(scroller, label, tiles) {
    this.tiles = tiles;
    this.count = 0;
    this.active = 0; // the tile that Tab leads to
    this.content = h("div", { class: "grid", role: "grid", "aria-label": label, data: { test: "grid" } });
    /** @type {Map<number, HTMLElement>} */
    this.rows = new Map();
    this.scroller = scroller;
    this.scroll = new LongScroll(scroller, () => this.draw());
    this.shape = geometry(0);
    this.width = 0;
    this.content.addEventListener("click", (event) => this.clicked(event));
    this.content.addEventListener("keydown", (event) => this.keyed(event));
    this.content.addEventListener("focusin", (event) => this.focusArrived(event));
    new ResizeObserver(() => this.measure()).observe(this.content);
    new ResizeObserver(() => this.draw()).observe(scroller);
  }

  /** @param {number} count */
  setCount(count) {
    this.count = count;
    this.active = Math.min(this.active, Math.max(0, count - 1));
    this.resize();
    this.redraw();
  }

  /** The tile at the upper left. */
  get first() {
    return Math.floor(this.scroll.top / this.shape.rowHeight) * this.shape.columns;
  }

  /** Shows a tile at the top. */
  moveTo(/** @type {number} */ index) {
    this.scroll.moveTo(Math.floor(index / this.shape.columns) * this.shape.rowHeight);
    this.draw();
  }

  /** Another width keeps the first tile in view, and the focus on its tile. */
  measure() {
    const width = this.content.clientWidth;
    if (width === 0 || width === this.width) return;
    const first = this.first;
    const focused = this.content.contains(document.activeElement);
    this.width = width;
    this.shape = geometry(width);
    this.resize();
    this.clearRows();
    this.moveTo(first);
    if (focused) this.focus();
  }

  resize() {
    const rows = Math.ceil(this.count / this.shape.columns);
    this.scroll.setHeight(Math.max(0, rows * this.shape.rowHeight - this.shape.gap));
    this.content.style.height = `${this.scroll.drawn}px`;
    this.content.setAttribute("aria-rowcount", String(rows));
    this.content.setAttribute("aria-colcount", String(this.shape.columns));
  }

  /** Draws again what changed. */
  redraw(from = 0, to = Infinity) {
    const { columns } = this.shape;
    for (const [number, row] of this.rows) {
      if ((number + 1) * columns > from && number * columns < to) this.fillRow(number, row);
    }
    this.draw();
  }

  /** The document follows the scroller. */
  draw() {
    if (this.width === 0) return;
    const { columns, rowHeight } = this.shape;
    const rows = Math.ceil(this.count / columns);
    const view = this.scroller.clientHeight;
    const from = Math.max(0, Math.floor(this.scroll.top / rowHeight) - AROUND);
    const to = Math.min(rows, Math.ceil((this.scroll.top + view) / rowHeight) + AROUND);
    for (const [number, row] of this.rows) {
      const gone = number < from || number >= to;
      if (number >= rows || (gone && !row.contains(document.activeElement))) this.removeRow(number, row);
    }
    for (let number = from; number < to; number += 1) if (!this.rows.has(number)) this.addRow(number);
    for (const [number, row] of this.rows) {
      row.style.transform = `translateY(${number * rowHeight + this.scroll.shift}px)`;
    }
    this.keepReachable(from, to);
    if (to > from) this.tiles.wanted?.(from * columns, Math.min(to * columns, this.count));
  }

  /** @param {number} number */
  addRow(number) {
    const row = h("div", { class: "tiles", role: "row", "aria-rowindex": number + 1 });
    row.style.gridTemplateColumns = `repeat(${this.shape.columns}, minmax(0, 1fr))`;
    this.rows.set(number, row);
    this.fillRow(number, row);
    const after = [...this.rows.keys()].filter((other) => other > number).sort((a, b) => a - b)[0];
    this.content.insertBefore(row, after === undefined ? null : (this.rows.get(after) ?? null));
  }

  /**
   * @param {number} number
   * @param {HTMLElement} row
   */
  fillRow(number, row) {
    const { columns } = this.shape;
    const focused = row.contains(document.activeElement) ? this.active : null;
    forget(row);
    const cells = [];
    for (let index = number * columns; index < Math.min((number + 1) * columns, this.count); index += 1) {
      cells.push(this.cell(index));
    }
    row.replaceChildren(...cells);
    if (focused !== null) /** @type {HTMLElement | null} */ (row.querySelector("[tabindex='0']"))?.focus({ preventScroll: true });
  }

  /** @param {number} index */
  cell(index) {
    const shown = this.tiles.tile(index, this.shape.tile);
    const element = h("div", {
      class: `tile ${shown?.class ?? ""} ${shown ? "" : "waiting"}`,
      role: "gridcell",
      "aria-colindex": (index % this.shape.columns) + 1,
      "aria-label": shown?.label ?? "loading",
      tabindex: index === this.active ? 0 : -1,
      data: { index, test: "tile" },
    });
    if (shown) element.append(...shown.content);
    return element;
  }

  /**
   * @param {number} number
   * @param {HTMLElement} row
   */
  removeRow(number, row) {
    forget(row);
    row.remove();
    this.rows.delete(number);
  }

  clearRows() {
    for (const [number, row] of this.rows) this.removeRow(number, row);
  }

  /** Tab must find a tile, also after the one it last stood on was scrolled away. */
  keepReachable(/** @type {number} */ from, /** @type {number} */ to) {
    const row = Math.floor(this.active / this.shape.columns);
    if (this.rows.has(row) || to <= from) return;
    this.activate(Math.min(from + AROUND, to - 1) * this.shape.columns);
  }

  /** @param {number} index */
  element(index) {
    return /** @type {HTMLElement | null} */ (this.content.querySelector(`[data-index="${index}"]`));
  }

  /** @param {number} index */
  activate(index) {
    this.element(this.active)?.setAttribute("tabindex", "-1");
    this.active = index;
    this.element(index)?.setAttribute("tabindex", "0");
  }

  /** Moves the focus, and the view as far as it must. */
  focus(index = this.active) {
    if (index < 0 || index >= this.count) return;
    const top = Math.floor(index / this.shape.columns) * this.shape.rowHeight;
    const view = this.scroller.clientHeight;
    if (top < this.scroll.top) this.scroll.moveTo(top);
    else if (top + this.shape.rowHeight > this.scroll.top + view) this.scroll.moveTo(top + this.shape.rowHeight - view);
    this.draw();
    this.activate(index);
    this.element(index)?.focus({ preventScroll: true });
  }

  /** @param {Event} event */
  indexOf(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const tile = target.closest("[data-index]");
    return tile instanceof HTMLElement ? Number(tile.dataset.index) : null;
  }

  /** @param {Event} event */
  clicked(event) {
    const index = this.indexOf(event);
    if (index === null || !this.tiles.tile(index, this.shape.tile)) return;
    this.activate(index);
    this.tiles.chosen(index);
  }

  /** @param {Event} event */
  focusArrived(event) {
    const index = this.indexOf(event);
    if (index === null) return;
    this.activate(index);
    this.tiles.focused?.(index);
  }

  /** @param {KeyboardEvent} event */
  keyed(event) {
    const index = this.indexOf(event);
    if (index === null || event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.tiles.chosen(index);
      return;
    }
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.shape.rowHeight));
    const { count, shape } = this;
    const to = moved(event.key, { index, count, columns: shape.columns, page, whole: event.ctrlKey });
    if (to === null) return;
    event.preventDefault();
    this.focus(to);
  }
}
