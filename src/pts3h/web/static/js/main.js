/** The page: four views, one address, and a line when the server does not answer. */

import { DuplicatesView } from "./duplicates/view.js";
import { GalleryView } from "./gallery/view.js";
import { showHelp } from "./base/help.js";
import { useEverywhere, useKeys } from "./base/keys.js";
import { complain } from "./base/notices.js";
import { go, place } from "./base/router.js";
import { hasStatus, isOnline, refresh, state, status } from "./base/state.js";
import { number } from "./base/words.js";
import { TeachView } from "./teach/view.js";
import { brief } from "./train/job.js";
import { TrainView } from "./train/view.js";

/** @typedef {{element: HTMLElement, keys: import("./base/keys.js").Keys,
 *   show: (query: URLSearchParams) => Promise<void>}} View */

const TITLES = { "": "Search", duplicates: "Duplicates", teach: "Teach", train: "Train" };

/** @type {Map<string, View>} made on the first visit, kept with their places */
const views = new Map();

/** @type {Map<string, string>} the address at which a view was left */
const left = new Map();

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const offline = /** @type {HTMLElement} */ (document.getElementById("offline"));
const job = /** @type {HTMLElement} */ (document.getElementById("job"));
const about = /** @type {HTMLElement} */ (document.getElementById("about"));

/** @param {string} name */
function make(name) {
  const kinds = { duplicates: DuplicatesView, teach: TeachView, train: TrainView };
  return new (kinds[/** @type {keyof typeof kinds} */ (name)] ?? GalleryView)();
}

function route() {
  if (!hasStatus()) return;
  const { view: asked, query } = place();
  const name = asked in TITLES ? asked : "";
  let view = views.get(name);
  if (!view) {
    view = make(name);
    views.set(name, view);
    main.append(view.element);
  }
  for (const other of views.values()) other.element.hidden = other !== view;
  drawLinks(name);
  document.title = `${TITLES[/** @type {keyof typeof TITLES} */ (name)]} · ${status().name}`;
  useKeys(view.keys);
  view.show(query).catch(complain);
}

/**
 * A link leads to where its view was left; that of the view that is shown, to its beginning.
 * @param {string} here
 */
function drawLinks(here) {
  left.set(here, location.hash);
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("nav a"))) {
    const name = link.dataset.view ?? "";
    link.href = (name !== here && left.get(name)) || `#/${name}`;
    if (name === here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function drawHead() {
  offline.hidden = isOnline();
  if (!hasStatus()) return;
  const { name, items } = status();
  about.textContent = `${name} · ${number(items)}`;
  job.textContent = brief(status().job);
  job.hidden = !job.textContent;
}

let started = false;
state.addEventListener("change", () => {
  drawHead();
  if (started || !hasStatus()) return;
  started = true;
  document.body.classList.remove("starting");
  route();
});
addEventListener("hashchange", route);
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault(); // the address after # is not a place in the document here
  main.focus();
});
document.getElementById("help")?.addEventListener("click", showHelp);
useEverywhere({ "?": showHelp, "/": () => go("") });
void refresh();
