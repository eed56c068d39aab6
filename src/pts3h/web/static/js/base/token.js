/**
 * The server's token: asked for once, kept until the tab closes. Requests carry it; pictures, which cannot, are let in by
 * a cookie that the server gives for it.
 */

import { h } from "./dom.js";

const KEY = "pts3h.token";

/** @type {Promise<boolean> | null} */
let asking = null;
let declined = false;

/** @returns {string | null} */
export const token = () => sessionStorage.getItem(KEY);

/** @type {Promise<boolean> | null} */
let opening = null;

/**
 * Has the server give its cookie, which a server that was started anew no longer knows.
 * @returns {Promise<boolean>} whether it did
 */
export function openSession() {
  const given = token();
  if (!given) return Promise.resolve(false);
  opening ??= fetch("/api/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token: given }),
  })
    .then((response) => response.ok)
    .catch(() => false)
    .finally(() => setTimeout(() => (opening = null), 1000)); // many pictures at once ask once
  return opening;
}

/** The user wants to be asked again. */
export function askAgain() {
  declined = false;
  return askForToken();
}

/**
 * One dialog, however many requests wait for it.
 * @param {string | null} [refused] the token that the server did not accept
 * @returns {Promise<boolean>} whether there is a new token to try
 */
export function askForToken(refused = null) {
  if (refused !== null && refused !== token()) return Promise.resolve(true); // another request got one meanwhile
  if (declined) return Promise.resolve(false);
  asking ??= dialog(refused !== null).finally(() => (asking = null));
  return asking;
}

/** @param {boolean} wrong whether the last one was not accepted */
function dialog(wrong) {
  const field = h("input", {
    type: "password",
    id: "token",
    name: "token",
    autocomplete: "off",
    required: true,
    data: { test: "token" },
  });
  const form = h(
    "form",
    { method: "dialog", class: "stack" },
    h("h2", { id: "token-title" }, "This server asks for a token"),
    h(
      "p",
      { id: "token-help" },
      wrong ? "The server did not accept that token. " : "",
      "Whoever started the server has it. It is kept until you close this tab.",
    ),
    h("label", { htmlFor: "token" }, "Token"),
    field,
    h(
      "div",
      { class: "row end" },
      h("button", { type: "button", class: "quiet", on: { click: () => box.close("") } }, "Not now"),
      h("button", { type: "submit", class: "primary", value: "go", data: { test: "token-go" } }, "Go on"),
    ),
  );
  const box = /** @type {HTMLDialogElement} */ (
    h("dialog", { class: "box", "aria-labelledby": "token-title", "aria-describedby": "token-help" }, form)
  );
  document.body.append(box);
  box.showModal();
  return new Promise((resolve) => {
    box.addEventListener("close", () => {
      const given = box.returnValue === "go" ? /** @type {HTMLInputElement} */ (field).value.trim() : "";
      box.remove();
      declined = !given;
      if (given) sessionStorage.setItem(KEY, given);
      resolve(Boolean(given));
    });
  });
}
