/** Single keys, while no one is typing and no dialog is open. Each view has its own. */

/** @typedef {Record<string, () => void>} Keys */

/** @type {Keys} */
let current = {};
/** @type {Keys} */
let everywhere = {};

/** @param {Keys} keys the keys of the view that is shown */
export function useKeys(keys) {
  current = keys;
}

/** @param {Keys} keys */
export function useEverywhere(keys) {
  everywhere = keys;
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "range", "button"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const act = current[event.key] ?? everywhere[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
