/** What the server says of itself, kept fresh, and whether it answers. */

import { connection, ServerError } from "./request.js";
import { complain } from "./notices.js";
import * as server from "./server.js";

const CALM = 10_000; // milliseconds between looks while all is well
const FIRST_RETRY = 500;
const LAST_RETRY = 5_000;

/** `change`: another status. `back`: the server answers again after it did not. */
export const state = new EventTarget();

/** @type {server.Status | null} */
let known = null;
let online = true;
let wait = FIRST_RETRY;
let backSince = 0; // when the server answered again
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** The last status. Only after the first `change`. */
export function status() {
  if (!known) throw new Error("the server has said nothing yet");
  return known;
}

export const hasStatus = () => known !== null;
export const isOnline = () => online;

/** Puts a part of the status in place that another answer brought along. */
export function learned(/** @type {Partial<server.Status>} */ part) {
  if (!known) return;
  known = { ...known, ...part };
  state.dispatchEvent(new Event("change"));
}

/** Asks now, and then from time to time. */
export async function refresh() {
  clearTimeout(timer);
  try {
    known = await server.status();
    state.dispatchEvent(new Event("change"));
  } catch (error) {
    if (error instanceof ServerError && !known) complain(error);
  } finally {
    timer = setTimeout(refresh, online ? CALM : wait);
  }
}

connection.addEventListener("fail", () => {
  const calm = online && Date.now() - backSince > CALM; // one that comes and goes is asked less and less often
  wait = calm ? FIRST_RETRY : Math.min(wait * 2, LAST_RETRY);
  if (!online) return;
  online = false;
  state.dispatchEvent(new Event("change"));
  clearTimeout(timer);
  timer = setTimeout(refresh, wait);
});

connection.addEventListener("answer", () => {
  if (online) return;
  online = true;
  backSince = Date.now();
  state.dispatchEvent(new Event("change"));
  state.dispatchEvent(new Event("back"));
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) void refresh();
});
