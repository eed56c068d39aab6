/**
 * Which groups are chosen, and what of each is kept. Nothing here touches a file: it ends in a list.
 *
 * @typedef {{id: string, distance: number, width: number | null, height: number | null, bytes: number | null,
 *   modified: number | null}} Copy
 * @typedef {{items: Copy[], count: number, keep: string}} Group a very large one holds only some of its items
 */

/** @param {Group} group */
const key = (group) => group.items.map((item) => item.id).join("\n");

export class Choices {
  constructor() {
    this.all = false;
    /** @type {Set<string>} groups for which `all` does not hold */
    this.except = new Set();
    /** @type {Map<string, Set<string>>} what is kept, where the user said otherwise than the rule */
    this.kept = new Map();
  }

  /** @param {boolean} all */
  chooseAll(all) {
    this.all = all;
    this.except.clear();
  }

  /** Another rule: what was kept by hand follows it again. */
  followRule() {
    this.kept.clear();
  }

  /** @param {Group} group */
  isChosen(group) {
    return this.all !== this.except.has(key(group));
  }

  /**
   * @param {Group} group
   * @param {boolean} chosen
   */
  choose(group, chosen) {
    if (chosen === this.all) this.except.delete(key(group));
    else this.except.add(key(group));
  }

  /** @param {Group} group */
  keeps(group) {
    return this.kept.get(key(group)) ?? new Set([group.keep]);
  }

  /**
   * @param {Group} group
   * @param {string} id
   * @param {boolean} keep
   */
  keep(group, id, keep) {
    const kept = new Set(this.keeps(group));
    if (keep) kept.add(id);
    else kept.delete(id);
    this.kept.set(key(group), kept);
  }

  /** @param {number} total */
  chosenOf(total) {
    return this.all ? total - this.except.size : this.except.size;
  }
}

/**
 * @param {Group[]} groups all there are
 * @param {Choices} choices
 * @returns {{group: number, action: string, copy: Copy}[]} of the chosen groups, what is kept first
 */
export function decisions(groups, choices) {
  return groups.flatMap((group, at) => {
    if (!choices.isChosen(group)) return [];
    const kept = choices.keeps(group);
    const rows = group.items.map((copy) => ({ group: at + 1, action: kept.has(copy.id) ? "keep" : "drop", copy }));
    return [...rows.filter((row) => row.action === "keep"), ...rows.filter((row) => row.action === "drop")];
  });
}

/** @param {ReturnType<typeof decisions>} rows */
export function asCsv(rows) {
  const lines = rows.map(({ group, action, copy }) =>
    [group, action, copy.id, copy.width, copy.height, copy.bytes, moment(copy.modified)].map(csvField).join(","),
  );
  return ["group,action,id,width,height,bytes,modified", ...lines, ""].join("\r\n");
}

/** @param {ReturnType<typeof decisions>} rows */
export function asNames(rows) {
  return rows.filter((row) => row.action === "drop").map((row) => `${row.copy.id}\n`).join("");
}

/** @param {number | null} seconds since 1970 */
const moment = (seconds) => (seconds === null ? "" : new Date(seconds * 1000).toISOString());

/** @param {string | number | null | undefined} value */
function csvField(value) {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
