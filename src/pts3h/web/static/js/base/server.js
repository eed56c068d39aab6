/**
 * Every call of the server that the page makes. Ids travel in queries and bodies, since they hold slashes.
 *
 * @typedef {{id: string, meta: Record<string, unknown>, picture: boolean}} Item
 * @typedef {Item & {distance: number, code: string}} Hit
 * @typedef {{answers: number, pairs: number, alike: number, not_alike: number, unsure: number, placed: number,
 *   groups: number}} Counts
 * @typedef {{group: number, name: string | null, similarity?: number | null, examples?: Item[]}} NearGroup
 * @typedef {{text: string, figure: number | null, stop: boolean}} Helping
 * @typedef {{mode: "groups", item: Item, groups: NearGroup[], helping: Helping, why: string}} PlaceQuestion
 * @typedef {{mode: "pairs", a: Item, b: Item, helping: Helping, similarity: number, why: string}} PairQuestion
 * @typedef {{done: true, why: string}} NoQuestion
 * @typedef {PlaceQuestion | PairQuestion | NoQuestion} Question
 * @typedef {"queued" | "features" | "training" | "comparing" | "ready" | "switching" | "used" | "kept_old"
 *   | "cancelled" | "failed"} JobState
 * @typedef {{number: number, state: JobState, step: number, steps: number, seconds_left: number | null,
 *   phase: string | null, error: string | null, figures: Figures | null,
 *   trained_on: {answers: number, items: number, pairs: number} | null}} Job
 * @typedef {{auc: number, pairs: number}} Judged
 * @typedef {{before: Judged, after: Judged, gain: number, error: number}} Figures
 * @typedef {{name: string, version: string, items: number, bits: number, look_bits: number, pictures: boolean,
 *   by: string[], generation: number, teach: boolean, writes: "open" | "token" | "closed", counts: Counts | null,
 *   limits: {k: number, window: number, radius: number, upload_bytes: number}, job: Job | null, previous: boolean}} Status
 */

import { me } from "./me.js";
import { address, get, request, send } from "./request.js";

/** @returns {Promise<Status>} */
export const status = () => get("/api/status");

/**
 * @param {{offset: number, limit: number, names?: string, where?: object | null}} asked
 * @param {AbortSignal} [signal]
 * @returns {Promise<{total: number, offset: number, items: Item[]}>}
 */
export const items = ({ where, ...asked }, signal) =>
  get("/api/items", { ...asked, where: where ? JSON.stringify(where) : null }, signal);

/** @param {string} id */
export const item = (id) => get("/api/item", { id });

/**
 * @param {string} id
 * @param {64 | 128 | 256} size
 */
export const thumbnail = (id, size) => address("/api/thumbnail", { id, size });

/** @param {string} id */
export const picture = (id) => address("/api/picture", { id });

/** @param {object} asked */
export const search = (asked) => send("POST", "/api/search", asked);

/**
 * @param {Blob} file
 * @param {{k: number, radius: number | null, by: string, where: object | null}} asked
 */
export async function searchPicture(file, { where, ...asked }) {
  const path = address("/api/search/picture", { ...asked, where: where ? JSON.stringify(where) : null });
  const headers = { "Content-Type": file.type || "application/octet-stream" };
  return (await request(path, { method: "POST", body: file, headers })).json();
}

/** @param {{id: string, other?: string, code?: string}} pair */
export const explain = (pair) => send("POST", "/api/explain", pair);

/**
 * @param {Record<string, unknown>} asked
 * @param {AbortSignal} [signal]
 * @returns {Promise<{total: number, groups: import("../duplicates/choices.js").Group[]}>}
 */
export const duplicates = (asked, signal) => get("/api/duplicates", asked, signal);

/**
 * @param {object} said
 * @param {"groups" | "pairs" | null} [next] whether to send the next question along
 */
export const answer = (said, next) => send("POST", address("/api/answers", { next }), { ...said, who: me() });

/** @param {number} [number] */
export const undo = (number) => send("POST", "/api/answers/undo", number === undefined ? {} : { number });

export const groups = () => get("/api/groups");

/**
 * @param {number} group
 * @param {string} name
 */
export const nameGroup = (group, name) => send("PATCH", `/api/groups/${group}`, { name });

/**
 * @param {number} group
 * @param {number} into
 */
export const mergeGroup = (group, into) => send("POST", `/api/groups/${group}/merge`, { into });

/**
 * @param {number} group
 * @param {string[]} ids
 */
export const splitGroup = (group, ids) => send("POST", `/api/groups/${group}/split`, { items: ids });

/**
 * @param {"groups" | "pairs"} mode
 * @param {string[]} [skip]
 * @returns {Promise<Question>}
 */
export const nextQuestion = (mode, skip = []) => get("/api/questions/next", { mode, skip });

/** @param {boolean} transitive */
export const startJob = (transitive) => send("POST", "/api/jobs", { transitive });

/** @param {number} number */
export const job = (number) => get(`/api/jobs/${number}`);

/** @param {number} number */
export const cancelJob = (number) => send("DELETE", `/api/jobs/${number}`);

/** @param {number} number */
export const compare = (number) => get(`/api/jobs/${number}/compare`);

/** @param {number} number */
export const useJob = (number) => send("POST", `/api/jobs/${number}/use`);

/** @param {number} number */
export const keepOld = (number) => send("POST", `/api/jobs/${number}/keep-old`);

export const goBack = () => send("POST", "/api/generations/back");
