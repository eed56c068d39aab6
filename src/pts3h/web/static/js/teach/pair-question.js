/** Are these two alike? Both are enlarged together, at the same place. */

import { h } from "../base/dom.js";
import { large } from "../base/pictures.js";

const FACTOR = 2.5;

/** @param {import("../base/server.js").PairQuestion} question */
export function pairQuestion(question) {
  const pair = h(
    "div",
    { class: "pair", data: { test: "question", a: question.a.id, b: question.b.id } },
    ...[question.a, question.b].map((item) =>
      h("figure", {}, h("div", { class: "zoom" }, large(item)), h("figcaption", { class: "full-name" }, item.id)),
    ),
  );
  const hint = h("p", { class: "hint" }, "These two are hard to tell. Place pictures in groups first: that teaches more.");
  return { element: h("div", {}, pair, hint), zoom: zoomTogether(pair) };
}

/**
 * A click enlarges both where it was made, the pointer moves both.
 * @param {HTMLElement} pair
 * @returns {() => void} enlarges both in the middle, or shows them whole again
 */
function zoomTogether(pair) {
  const frames = [.../** @type {NodeListOf<HTMLElement>} */ (pair.querySelectorAll(".zoom"))];
  let on = false;
  const draw = (x = 0.5, y = 0.5) => {
    for (const frame of frames) {
      const picture = /** @type {HTMLElement | null} */ (frame.firstElementChild);
      if (!picture) continue;
      frame.classList.toggle("on", on);
      picture.style.transformOrigin = `${x * 100}% ${y * 100}%`;
      picture.style.transform = on ? `scale(${FACTOR})` : "";
    }
  };
  for (const frame of frames) {
    const at = (/** @type {MouseEvent} */ event) => {
      const box = frame.getBoundingClientRect();
      draw((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    };
    frame.addEventListener("click", (event) => {
      on = !on;
      at(event);
    });
    frame.addEventListener("mousemove", (event) => on && at(event));
  }
  return () => {
    on = !on;
    draw();
  };
}
