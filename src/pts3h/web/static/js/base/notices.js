/** One line at the foot of the page, and words for those who listen instead of looking. */

import { h } from "./dom.js";
import { Offline } from "./request.js";
import { askAgain } from "./token.js";

const SHORT = 5000; // milliseconds that a remark stays

const place = /** @type {HTMLElement} */ (document.getElementById("notices"));
const spoken = /** @type {HTMLElement} */ (document.getElementById("spoken"));

/** @type {HTMLElement | null} */
let shown = null;

/** Said by screen readers, not shown. */
export function announce(/** @type {string} */ text) {
  // an equal text again would not be a change, and go unsaid
  spoken.textContent = spoken.textContent === text ? `${text}\u00a0` : text;
}

/**
 * @param {string} text
 * @param {{label: string, act: () => void}} [action]
 */
export function remark(text, action) {
  const notice = show("remark", text, action);
  setTimeout(() => notice === shown && dismiss(), SHORT);
}

/**
 * Shows an error with what to do. A server that does not answer has a line of its own, and an abort is no error.
 * @param {unknown} error
 */
export function complain(error) {
  if (error instanceof Offline || (error instanceof DOMException && error.name === "AbortError")) return;
  const unauthorized = /** @type {{code?: string}} */ (error).code === "unauthorized";
  const text = error instanceof Error ? error.message : String(error);
  show("problem", text, unauthorized ? { label: "Enter the token", act: () => void askAgain() } : undefined);
}

export function dismiss() {
  shown?.remove();
  shown = null;
}

/**
 * @param {"remark" | "problem"} kind
 * @param {string} text
 * @param {{label: string, act: () => void}} [action]
 */
function show(kind, text, action) {
  dismiss();
  const close = h("button", { type: "button", class: "icon", "aria-label": "Close this line" }, "×");
  const act = action && h("button", { type: "button", class: "small" }, action.label);
  shown = h(
    "p",
    { class: `notice ${kind}`, role: kind === "problem" ? "alert" : "status", data: { test: kind } },
    h("span", {}, text),
    act,
    close,
  );
  close.addEventListener("click", dismiss);
  act?.addEventListener("click", () => {
    dismiss();
    action?.act();
  });
  place.append(shown);
  return shown;
}
