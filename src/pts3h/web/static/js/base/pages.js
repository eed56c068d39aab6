/** A long list of which only the pages that were looked at are here. */

const PAGE = 200;
const KEPT = 60; // pages; those not looked at for longest go first

/** @template T */
export class Pages {
  /**
   * @param {(offset: number, limit: number, signal: AbortSignal) => Promise<{total: number, items: T[]}>} load
   * @param {(from: number, to: number) => void} arrived called with the stretch that is now here
   * @param {(error: unknown) => void} failed
   */
  constructor(load, arrived, failed) {
    this.load = load;
    this.arrived = arrived;
    this.failed = failed;
    /** @type {Map<number, T[]>} */
    this.pages = new Map();
    /** @type {Map<number, AbortController>} */
    this.loading = new Map();
    this.total = 0;
  }

  /** Starts anew with the first page. */
  async start() {
    this.stop();
    this.pages.clear();
    this.total = 0;
    await this.fetchPage(0);
  }

  stop() {
    for (const control of this.loading.values()) control.abort();
    this.loading.clear();
  }

  /**
   * @param {number} index
   * @returns {T | undefined} undefined while it is not here
   */
  at(index) {
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** Asks for what is shown and is not here yet; stops asking for what is no longer shown. */
  want(/** @type {number} */ from, /** @type {number} */ to) {
    const first = Math.floor(from / PAGE);
    const last = Math.floor(Math.max(from, to - 1) / PAGE);
    for (const [page, control] of this.loading) {
      if (page < first - 1 || page > last + 1) {
        control.abort();
        this.loading.delete(page);
      }
    }
    for (let page = first; page <= last; page += 1) {
      const there = this.pages.get(page);
      if (there) {
        this.pages.delete(page); // to the end: looked at last
        this.pages.set(page, there);
      } else if (!this.loading.has(page)) void this.fetchPage(page);
    }
  }

  /** @param {number} page */
  async fetchPage(page) {
    const control = new AbortController();
    this.loading.set(page, control);
    try {
      const { total, items } = await this.load(page * PAGE, PAGE, control.signal);
      if (control.signal.aborted) return;
      this.pages.set(page, items);
      this.total = total;
      while (this.pages.size > KEPT) this.pages.delete(this.pages.keys().next().value ?? 0);
      this.arrived(page * PAGE, page * PAGE + items.length);
    } catch (error) {
      if (!control.signal.aborted) this.failed(error);
    } finally {
      if (this.loading.get(page) === control) this.loading.delete(page);
    }
  }
}
