/** A picture from outside: dropped anywhere, pasted anywhere, or picked. */

import { button } from "../base/controls.js";
import { h } from "../base/dom.js";

/**
 * @param {(file: File) => void} taken
 * @param {(problem: string) => void} refused
 */
export function watchDropAndPaste(taken, refused) {
  const veil = h("div", { class: "veil", hidden: true, "aria-hidden": "true" }, h("p", {}, "Drop it to search with it"));
  document.body.append(veil);
  let depth = 0; // dragenter and dragleave come for every element that is crossed

  const over = (/** @type {boolean} */ on) => {
    depth = on ? depth : 0;
    veil.hidden = !on;
  };
  addEventListener("dragenter", (event) => {
    if (!hasFiles(event.dataTransfer)) return;
    depth += 1;
    over(true);
  });
  addEventListener("dragleave", (event) => {
    if (!hasFiles(event.dataTransfer)) return;
    depth -= 1;
    if (depth <= 0) over(false);
  });
  addEventListener("dragover", (event) => {
    if (hasFiles(event.dataTransfer)) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    over(false);
    takeFirst(event.dataTransfer, taken, refused);
  });
  addEventListener("paste", (event) => {
    if (!event.clipboardData?.files.length) return; // text goes where it is pasted
    event.preventDefault();
    takeFirst(event.clipboardData, taken, refused);
  });
}

/** @param {(file: File) => void} taken */
export function pickButton(taken) {
  const input = /** @type {HTMLInputElement} */ (
    h("input", {
      type: "file",
      accept: "image/*",
      class: "visually-hidden",
      tabindex: -1,
      "aria-hidden": "true",
      data: { test: "file" },
    })
  );
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) taken(file);
    input.value = ""; // the same file again is a change too
  });
  const words = [h("span", { class: "wide-only" }, "Search with a picture"), h("span", { class: "narrow-only" }, "Picture…")];
  return [button(words, "pick", () => input.click(), { kind: "primary", label: "Search with a picture" }), input];
}

/** @param {DataTransfer | null} transfer */
const hasFiles = (transfer) => Boolean(transfer?.types.includes("Files"));

/**
 * @param {DataTransfer | null} transfer
 * @param {(file: File) => void} taken
 * @param {(problem: string) => void} refused
 */
function takeFirst(transfer, taken, refused) {
  const files = [...(transfer?.files ?? [])];
  const picture = files.find((file) => file.type.startsWith("image/")) ?? files[0];
  if (picture) taken(picture);
  else refused("That was no file. Drop a picture from a folder, or copy one and paste it.");
}
