/** Why did this match: the bits that differ, part by part, and the known groups that both are near to. */

import { h, svg } from "../base/dom.js";
import { count, groupName, number } from "../base/words.js";

const CELL = 10;
const ACROSS = 16;

/**
 * @typedef {{bit: number, part: "meaning" | "look", mine: 0 | 1, theirs: 0 | 1}} Bit
 * @typedef {{distance: number, by: Record<string, number | null>, bits: Bit[],
 *   groups: import("../base/server.js").NearGroup[], other_groups: import("../base/server.js").NearGroup[]}} Explanation
 */

/**
 * @param {Explanation} why
 * @param {{bits: number, look_bits: number}} lengths
 */
export function explanation(why, lengths) {
  const parts = /** @type {["meaning" | "look", number, number][]} */ ([
    ["meaning", 0, lengths.bits],
    ["look", lengths.bits, lengths.look_bits],
  ]).filter(([, , length]) => length > 0);
  return h(
    "div",
    { class: "stack", data: { test: "why" } },
    ...parts.map(([part, from, length]) => partOf(part, from, length, why)),
    groupsOf("This picture is nearest to", why.groups),
    groupsOf("The query is nearest to", why.other_groups),
  );
}

/**
 * @param {"meaning" | "look"} part
 * @param {number} from the place of its first bit in the code
 * @param {number} length
 * @param {Explanation} why
 */
function partOf(part, from, length, why) {
  const differ = new Set(why.bits.filter((bit) => bit.part === part).map((bit) => bit.bit - from));
  const words = `${number(differ.size)} of ${count(length, "bit")} differ`;
  return h(
    "figure",
    { class: "bits" },
    h("figcaption", {}, h("b", {}, part === "meaning" ? "Meaning" : "Look"), ` ${words}`),
    bitGrid(differ, length, `${part}: ${words}`),
  );
}

/**
 * @param {Set<number>} differ
 * @param {number} length
 * @param {string} label
 */
function bitGrid(differ, length, label) {
  const across = Math.min(ACROSS, length);
  const down = Math.ceil(length / across);
  const cells = Array.from({ length }, (_, bit) =>
    svg("rect", {
      x: (bit % across) * CELL + 1,
      y: Math.floor(bit / across) * CELL + 1,
      width: CELL - 2,
      height: CELL - 2,
      rx: 2,
      class: differ.has(bit) ? "differs" : "same",
    }),
  );
  const box = `0 0 ${across * CELL} ${down * CELL}`;
  return svg("svg", { viewBox: box, class: "bit-grid", role: "img", "aria-label": label }, ...cells);
}

/**
 * @param {string} title
 * @param {import("../base/server.js").NearGroup[] | undefined} groups
 */
function groupsOf(title, groups) {
  if (!groups?.length) return null;
  return h(
    "p",
    { class: "near-groups" },
    `${title} `,
    ...groups.flatMap((group, at) => [at ? ", " : "", h("b", {}, groupName(group))]),
    ".",
  );
}
