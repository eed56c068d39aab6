/**
 * A scroller for more height than a browser allows one element (Firefox: some 17 million pixels).
 *
 * Up to `MOST` pixels, the place is the scroller's own. Beyond, a small movement moves as far as it looks, a large one
 * (the bar dragged) in proportion; at rest the bar is put where it belongs. `shift` is what must be added to a place in
 * the whole so that it is drawn where the scroller is.
 */

export const MOST = 8_000_000;
const REST = 150; // milliseconds without movement

export class LongScroll {
  /**
   * @param {HTMLElement} scroller
   * @param {() => void} moved
   */
  constructor(scroller, moved) {
    this.scroller = scroller;
    this.moved = moved;
    this.height = 0;
    this.top = 0;
    this.seen = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    scroller.addEventListener("scroll", () => {
      this.follow();
      moved();
    });
  }

  /** How high the content is drawn. */
  get drawn() {
    return Math.min(this.height, MOST);
  }

  get shift() {
    return this.seen - this.top;
  }

  /** @param {number} height of the whole */
  setHeight(height) {
    this.height = height;
    this.top = Math.min(this.top, this.furthest);
  }

  /** @param {number} top a place in the whole */
  moveTo(top) {
    this.top = Math.min(Math.max(top, 0), this.furthest);
    this.settle();
  }

  get furthest() {
    return Math.max(0, this.height - this.scroller.clientHeight);
  }

  get ratio() {
    const room = Math.max(1, this.drawn - this.scroller.clientHeight);
    return this.height > MOST ? this.furthest / room : 1;
  }

  follow() {
    const now = this.scroller.scrollTop;
    const step = now - this.seen;
    if (step === 0) return;
    this.seen = now;
    if (this.ratio === 1 || Math.abs(step) > this.scroller.clientHeight) this.top = now * this.ratio;
    else this.top = Math.min(Math.max(this.top + step, 0), this.furthest);
    if (this.ratio !== 1) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.settle(), REST);
    }
  }

  /** Puts the bar where it belongs. The browser's own event then finds no step. */
  settle() {
    this.scroller.scrollTop = this.top / this.ratio;
    this.seen = this.scroller.scrollTop;
    if (this.ratio === 1) this.top = this.seen;
    this.moved();
  }
}
