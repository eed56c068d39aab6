/** A training job in words. */

import { count, number } from "../base/words.js";

/** @typedef {import("../base/server.js").Job} Job */

const RUNNING = ["queued", "features", "training", "comparing", "switching"];

/** @param {Job} job */
export const isRunning = (job) => RUNNING.includes(job.state);

/**
 * @param {Job} job
 * @returns {number | null} from 0 to 1; null where nobody knows
 */
export function share(job) {
  return isRunning(job) && job.steps > 0 ? Math.min(1, job.step / job.steps) : null;
}

/** @param {Job} job */
export function words(job) {
  const on = job.trained_on ? ` on ${count(job.trained_on.answers, "answer")}` : "";
  const step = job.steps ? `, step ${number(job.step)} of ${number(job.steps)}` : "";
  const training = job.phase === "checking" ? "Trying it on a part first" : `Training${on}`;
  const failed = `Training failed: ${job.error ?? "the log of the server says why"}. Start it again.`;
  return {
    queued: "Starting",
    features: "Looking at the pictures",
    training: training + step,
    comparing: "Comparing with the old model",
    ready: "Ready to compare",
    switching: "Encoding every picture again with the new model",
    used: "The new model is in use.",
    kept_old: "The old model was kept.",
    cancelled: "Training was cancelled. The model is the one before.",
    failed,
  }[job.state];
}

/** For the head of the page: in a few letters, or empty. */
export function brief(/** @type {Job | null} */ job) {
  if (!job) return "";
  const done = share(job);
  if (job.state === "training" && done !== null) return `Training ${Math.round(done * 100)} %`;
  return isRunning(job) ? "Training…" : job.state === "ready" ? "New model ready" : "";
}
