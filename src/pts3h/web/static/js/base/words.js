/** How numbers, sizes, times and names are written. */

const NUMBERS = new Intl.NumberFormat("en");
const DATES = new Intl.DateTimeFormat("en", { year: "numeric", month: "short", day: "numeric" });

/** @param {number} value */
export const number = (value) => NUMBERS.format(value);

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export const count = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** @param {number | null | undefined} bytes */
export function fileSize(bytes) {
  if (bytes === null || bytes === undefined) return "";
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB"];
  let size = bytes / 1000;
  while (size >= 999.5 && units.length > 1) {
    size /= 1000;
    units.shift();
  }
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[0]}`;
}

/** @param {number | null | undefined} seconds since 1970 */
export const date = (seconds) => (typeof seconds === "number" ? DATES.format(new Date(seconds * 1000)) : "");

/** @param {number | null | undefined} seconds */
export function timeLeft(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 5) return "a few seconds left";
  if (seconds < 60) return `about ${Math.round(seconds / 5) * 5} seconds left`;
  if (seconds < 3600) return `about ${count(Math.round(seconds / 60), "minute")} left`;
  return `about ${count(Math.round(seconds / 3600), "hour")} left`;
}

/**
 * The end of a name says more than its beginning.
 * @param {string} name
 * @param {number} most
 */
export function shortened(name, most) {
  const letters = [...name];
  return letters.length <= most ? name : `…${letters.slice(1 - most).join("")}`;
}

/** @param {{group: number, name?: string | null}} group */
export const groupName = (group) => group.name || `Group ${group.group}`;
