/** Train: start, watch, compare, and use it or not. */

import { button } from "../base/controls.js";
import { fill, h } from "../base/dom.js";
import { announce, complain } from "../base/notices.js";
import * as server from "../base/server.js";
import { learned, refresh, state, status } from "../base/state.js";
import { count, timeLeft } from "../base/words.js";
import { comparisonOf, figuresOf } from "./compare.js";
import { Curves } from "./curves.js";
import { follow } from "./events.js";
import { isRunning, share, words } from "./job.js";

export class TrainView {
  constructor() {
    this.curves = new Curves();
    /** @type {number | null} the job whose events are followed */
    this.followed = null;
    /** @type {AbortController | null} */
    this.control = null;
    this.shown = ""; // what is drawn: number and state of the job
    this.transitive = /** @type {HTMLInputElement} */ (
      h("input", { type: "checkbox", id: "transitive", checked: true, data: { test: "transitive" } })
    );
    this.start = button("Retrain", "start", () => void this.begin(), { kind: "primary" });
    this.ready = h("p", {});
    this.bar = /** @type {HTMLProgressElement} */ (h("progress", { max: 1, "aria-label": "Training" }));
    this.doing = h("p", { class: "doing", role: "status", data: { test: "doing" } });
    this.head = h("div", { class: "controls", hidden: true });
    this.place = h("div", { class: "stack train-place" });
    this.element = h(
      "section",
      { class: "view train", "aria-label": "Train" },
      this.head,
      h("div", { class: "scroller padded", tabindex: 0, role: "region", "aria-label": "Training" }, this.place),
    );
    state.addEventListener("change", () => this.draw());
  }

  get keys() {
    return {};
  }

  async show() {
    this.draw();
    await refresh();
  }

  /** Draws what the state of the newest job asks for, and follows it. */
  draw() {
    if (this.element.hidden || !this.element.isConnected) return;
    const { job, generation, previous, counts } = status();
    const look = JSON.stringify([job?.number, job?.state, generation, previous, status().writes, status().teach]);
    this.ready.textContent = counts ? `${count(counts.answers, "answer")} so far, ${count(counts.groups, "group")}.` : "";
    this.start.disabled = !counts?.answers;
    if (job) this.progress(job);
    if (look === this.shown) return;
    this.shown = look;
    this.head.hidden = true;
    if (!status().teach || status().writes === "closed") {
      fill(this.place, h("p", { class: "empty" }, "This server only searches. Start it with a workspace to train it."));
      return;
    }
    if (job && isRunning(job)) this.drawRunning(job);
    else if (job?.state === "ready") void this.drawReady(job);
    else this.drawStart(job);
    if (job) this.followJob(job);
  }

  /** @param {server.Job | null} job the last one, which is over */
  drawStart(job) {
    const outcome = job && h("p", { class: `outcome ${job.state}`, data: { test: "outcome" } }, words(job));
    const back =
      status().previous &&
      button("Back to the one before", "go-back", () => void this.act(() => server.goBack()));
    fill(
      this.place,
      outcome,
      job?.state === "used" && figuresOf(job.figures),
      h(
        "div",
        { class: "card-box stack" },
        h("h2", {}, "Learn from your answers"),
        this.ready,
        h(
          "label",
          { class: "switch" },
          this.transitive,
          h(
            "span",
            {},
            h("b", {}, "Alike is transitive. "),
            "If A is like B and B is like C, then A is like C: every pair within a group then counts as alike. Switch it off where one picture can belong to several kinds.",
          ),
        ),
        h("div", { class: "row wrap" }, this.start, back),
        h("p", { class: "soft" }, "Searching goes on meanwhile, and nothing changes until you say so."),
      ),
      job && this.curves.lines.losses.size > 0 && this.curves.element,
    );
  }

  /** @param {server.Job} job */
  drawRunning(job) {
    const cancel = button("Cancel", "cancel", () => void this.act(() => server.cancelJob(job.number)));
    cancel.hidden = job.state === "switching";
    this.head.hidden = false;
    fill(this.head, h("div", { class: "row wrap between" }, this.doing, cancel), this.bar);
    fill(this.place, this.curves.element);
  }

  /** @param {server.Job} job */
  async drawReady(job) {
    const use = button("Use it", "use", () => void this.act(() => server.useJob(job.number)), { kind: "primary" });
    const keep = button("Keep the old", "keep-old", () => void this.act(() => server.keepOld(job.number)));
    const title = h("h2", {}, job.error ? `It is not in use: ${job.error}` : "The new model is ready. Is it better?");
    this.head.hidden = false;
    fill(this.head, h("div", { class: "row wrap between" }, title, h("div", { class: "row" }, keep, use)));
    fill(this.place, h("p", { class: "soft" }, "Comparing…"));
    const shown = this.shown;
    try {
      const comparison = await server.compare(job.number);
      if (this.shown !== shown) return;
      fill(this.place, comparisonOf(comparison));
      announce("The new model is ready to compare.");
    } catch (error) {
      complain(error);
    }
  }

  /** @param {server.Job} job */
  progress(job) {
    const done = share(job);
    if (done === null) this.bar.removeAttribute("value");
    else this.bar.value = done;
    const left = isRunning(job) ? timeLeft(job.seconds_left) : "";
    const text = [words(job), left].filter(Boolean).join(", ");
    if (this.doing.textContent !== text) this.doing.textContent = text;
  }

  /**
   * The curve of a finished job is drawn as well, once.
   * @param {server.Job} job
   */
  followJob(job) {
    if (this.followed === job.number) return;
    this.control?.abort();
    const control = (this.control = new AbortController());
    this.followed = job.number;
    this.curves.clear();
    void follow(`/api/jobs/${job.number}/events`, control.signal, ({ event, data }) => {
      const said = JSON.parse(data);
      if (event === "progress" && said.phase === "training") this.curves.add(said);
      learned({ job: said });
      if (isRunning(said)) return false;
      void refresh();
      return said.state !== "ready" && said.state !== "switching";
    }).catch((error) => {
      this.followed = null;
      complain(error);
    });
  }

  async begin() {
    await this.act(() => server.startJob(this.transitive.checked));
  }

  /** @param {() => Promise<unknown>} call */
  async act(call) {
    try {
      await call();
    } catch (error) {
      complain(error);
    }
    await refresh();
  }
}
