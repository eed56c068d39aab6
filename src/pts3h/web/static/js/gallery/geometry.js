/** How many tiles stand beside each other, and how large they are. */

const GAP = 10;
const CAPTION = 40; // two lines of a name
const WIDE = { tile: 152, from: 560 };
const NARROW = { tile: 100 };

/** @typedef {{columns: number, tile: number, rowHeight: number, gap: number}} Geometry */

/**
 * @param {number} width of the room for tiles
 * @returns {Geometry}
 */
export function geometry(width) {
  const least = width >= WIDE.from ? WIDE.tile : NARROW.tile;
  const columns = Math.max(1, Math.floor((width + GAP) / (least + GAP)));
  const tile = (width - GAP * (columns - 1)) / columns;
  return { columns, tile, rowHeight: Math.round(tile) + CAPTION + GAP, gap: GAP };
}

/**
 * Where a key leads.
 * @param {string} key
 * @param {{index: number, count: number, columns: number, page: number, whole: boolean}} at
 *   page: rows that fit; whole: with Ctrl, Home and End mean the whole list
 * @returns {number | null} null where the key does not move
 */
export function moved(key, { index, count, columns, page, whole }) {
  const rowStart = index - (index % columns);
  const targets = {
    ArrowRight: index + 1,
    ArrowLeft: index - 1,
    ArrowDown: index + columns < count ? index + columns : index,
    ArrowUp: index - columns >= 0 ? index - columns : index,
    Home: whole ? 0 : rowStart,
    End: whole ? count - 1 : rowStart + columns - 1,
    PageDown: index + columns * page,
    PageUp: Math.max(index - columns * page, index % columns),
  };
  if (!(key in targets)) return null;
  return Math.min(Math.max(targets[/** @type {keyof typeof targets} */ (key)], 0), count - 1);
}
