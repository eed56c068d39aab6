/** The first view: all pictures, and what a search finds among them. */

import { h } from "../base/dom.js";
import { announce, complain } from "../base/notices.js";
import { go } from "../base/router.js";
import { state, status } from "../base/state.js";
import { count, fileSize, number } from "../base/words.js";
import * as server from "../base/server.js";
import { add, drop, filter, isSearch, nothing, onlyItem, read, write } from "./asked.js";
import { Asking } from "./asking.js";
import { Browse } from "./browse.js";
import { HitPanel } from "./hit-panel.js";
import { Results } from "./results.js";
import { Toolbar } from "./toolbar.js";
import { watchDropAndPaste } from "./uploads.js";

/** @typedef {import("./asked.js").Asked} Asked */

export class GalleryView {
  constructor() {
    this.asked = read(new URLSearchParams());
    this.generation = status().generation;
    /** @type {Map<string, {preview: string, found: import("./results.js").Found | null}>} uploads by code */
    this.uploads = new Map();
    /** @type {Set<string>} fields that items were seen to have */
    this.fields = new Set();
    this.toolbar = new Toolbar(
      { change: (part) => this.change(part), file: (file) => void this.upload(file) },
      status(),
    );
    this.asking = new Asking({
      drop: (id) => this.goTo(drop(this.asked, id)),
      dropCode: () => this.goTo({ ...this.asked, code: null }),
      clear: () => this.clear(),
      preview: (code) => this.uploads.get(code)?.preview ?? null,
    });
    this.browse = new Browse({
      chosen: (item) => this.goTo({ ...nothing(this.asked), like: [item.id] }),
      named: (name) => this.name(name),
      counted: () => this.say(),
    });
    this.results = new Results({
      chosen: (index) => this.panel.open(index),
      focused: (index) => {
        this.name(this.results.hits[index]?.id ?? "");
        this.panel.follow(index);
      },
      changed: () => this.say(),
      answer: (id) => this.panel.marks.get(onlyItem(this.asked), id),
      side: (id) => (this.asked.like.includes(id) ? "part of the query" : ""),
    });
    /** @type {HitPanel} */
    this.panel = new HitPanel(this.results, {
      asked: () => this.asked,
      search: (id) => this.goTo({ ...nothing(this.asked), like: [id] }),
      add: (id, side) => this.goTo(add(this.asked, id, side)),
    });
    this.line = h("p", { class: "line", role: "status", data: { test: "line" } });
    this.hovered = h("p", { class: "hovered", "aria-hidden": "true" });
    const controls = h(
      "div",
      { class: "controls" },
      this.toolbar.element,
      h("div", { class: "query-row" }, this.asking.element, h("div", { class: "lines" }, this.line, this.hovered)),
    );
    const pictures = h("div", { class: "pictures" }, this.browse.scroller, this.results.scroller);
    this.panel.background = [controls, pictures];
    this.element = h(
      "section",
      { class: "view gallery", "aria-label": "Search" },
      controls,
      h("div", { class: "split" }, pictures, this.panel.element),
    );
    pictures.addEventListener("mouseover", (event) => this.pointed(event));
    watchDropAndPaste((file) => void this.upload(file), complain);
    state.addEventListener("back", () => void this.again());
    state.addEventListener("change", () => this.followGeneration());
  }

  /** @param {URLSearchParams} query */
  async show(query) {
    const asked = read(query);
    const searching = isSearch(asked);
    const hadFocus = this.element.contains(document.activeElement);
    this.asked = asked;
    this.toolbar.show(asked, this.fields);
    this.asking.show(asked, searching);
    this.browse.scroller.hidden = searching;
    this.results.scroller.hidden = !searching;
    this.panel.close({ focus: false });
    try {
      if (!searching) await this.browse.show(asked.names, filter(asked));
      else if (!(await this.results.show(asked, this.firstHits(asked)))) return;
    } catch (error) {
      complain(error);
    }
    this.collectFields();
    // what had the focus may be hidden now, or gone
    const lost = hadFocus && !(this.element.contains(document.activeElement) && document.activeElement?.checkVisibility());
    if (lost) (searching ? this.results : this.browse).grid.focus();
    this.say();
  }

  /** Single keys of this view. */
  get keys() {
    const all = { Escape: () => this.escape(), "/": () => this.toolbar.find.focus() };
    return { ...all, ...this.panel.keys };
  }

  /** Other pictures of the same search may have come, or the server is another one. */
  async again() {
    if (isSearch(this.asked)) await this.results.show(this.asked, null).catch(complain);
    else await this.browse.reload().catch(complain);
  }

  followGeneration() {
    if (status().generation === this.generation) return;
    this.generation = status().generation;
    if (isSearch(this.asked)) void this.again(); // other codes, other hits; the gallery stays
  }

  /** @param {Asked} asked */
  goTo(asked, how = {}) {
    go("", write(asked), how);
  }

  /** @param {Partial<Asked>} part */
  change(part) {
    const typed = "names" in part;
    this.goTo({ ...(typed ? nothing(this.asked) : this.asked), ...part }, { replace: typed });
  }

  clear() {
    this.goTo(nothing(this.asked));
  }

  escape() {
    if (this.panel.isOpen) this.panel.close();
    else if (isSearch(this.asked)) this.clear();
  }

  /** @param {File} file */
  async upload(file) {
    const most = status().limits.upload_bytes;
    if (file.size > most) {
      complain(new Error(`${file.name} has ${fileSize(file.size)}; the server takes up to ${fileSize(most)}. Make it smaller.`));
      return;
    }
    announce("Searching with your picture");
    const asked = nothing(this.asked);
    try {
      const where = filter(asked);
      const found = await server.searchPicture(file, { k: asked.k, radius: asked.radius, by: asked.by, where });
      const code = found.query.token;
      this.uploads.set(code, { preview: URL.createObjectURL(file), found });
      const next = { ...asked, code };
      if (write(next).toString() === write(this.asked).toString()) await this.show(write(next));
      else this.goTo(next);
    } catch (error) {
      complain(error);
    }
  }

  /**
   * The answer to an upload already holds the first hits: they are used once.
   * @param {Asked} asked
   */
  firstHits(asked) {
    const upload = asked.code ? this.uploads.get(asked.code) : undefined;
    const found = upload?.found ?? null;
    if (upload) upload.found = null;
    return found;
  }

  collectFields() {
    const seen = isSearch(this.asked) ? this.results.hits : (this.browse.pages.pages.get(0) ?? []);
    for (const item of seen) for (const field of Object.keys(item.meta)) this.fields.add(field);
    this.toolbar.filter.show(this.asked.where, this.fields);
  }

  /** How many there are, in words. */
  say() {
    if (!isSearch(this.asked)) {
      this.line.textContent = count(this.browse.pages.total, "picture");
      return;
    }
    const { hits, total, took } = this.results;
    const many = total !== null && total > hits.length ? `${number(hits.length)} of ${number(total)}` : number(hits.length);
    const within = this.asked.radius === null ? " nearest" : ` within distance ${this.asked.radius}`;
    this.line.textContent = `${many}${within} · ${took < 10 ? took.toFixed(1) : Math.round(took)} ms`;
  }

  /** The whole name of the tile under the pointer or the focus. */
  name(/** @type {string} */ name) {
    this.hovered.textContent = name;
  }

  /** @param {MouseEvent} event */
  pointed(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const tile = target.closest(".tile");
    if (tile) this.name(tile.querySelector(".caption")?.getAttribute("title") ?? "");
  }
}
