/** Teach: a question, a key, the next question. */

import { button, withKey } from "../base/controls.js";
import { fill, h } from "../base/dom.js";
import { announce, complain, remark } from "../base/notices.js";
import { segmented } from "../base/segmented.js";
import * as server from "../base/server.js";
import { learned, state, status } from "../base/state.js";
import { count, groupName } from "../base/words.js";
import { Asker } from "./asker.js";
import { GroupsPanel } from "./groups-panel.js";
import { OtherGroups } from "./other-groups.js";
import { pairQuestion } from "./pair-question.js";
import { MOST_GROUPS, placeQuestion } from "./place-question.js";

/** @typedef {"groups" | "pairs" | "mine"} Mode */

export class TeachView {
  constructor() {
    /** @type {Mode} */
    this.mode = "groups";
    const counted = (/** @type {server.Counts} */ counts) => learned({ counts });
    this.askers = {
      groups: new Asker("groups", (question) => this.ask(question), counted),
      pairs: new Asker("pairs", (question) => this.ask(question), counted),
    };
    this.mine = new GroupsPanel(() => (this.askers.groups.question = null));
    this.others = new OtherGroups((group) => this.inGroups(() => ({ group, new: false })));
    this.zoom = () => {};
    const modes = { groups: "Which group?", pairs: "Alike or not?", mine: "My groups" };
    this.modes = segmented("mode", "What to do", modes, (mode) => void this.change(/** @type {Mode} */ (mode)));
    this.modes.set("groups");
    this.answers = h("div", { class: "row wrap answers", role: "group", "aria-label": "Answer" });
    this.counts = h("p", { class: "line", data: { test: "counts" } });
    this.helping = h("p", { class: "helping", role: "status", data: { test: "helping" } });
    this.content = h("div", { class: "asking-place" });
    this.element = h(
      "section",
      { class: "view teach", "aria-label": "Teach" },
      h(
        "div",
        { class: "controls" },
        h("div", { class: "row wrap between" }, this.modes.element, this.counts),
        this.answers,
        this.helping,
      ),
      h("div", { class: "scroller padded", tabindex: 0, role: "region", "aria-label": "The question" }, this.content),
    );
    state.addEventListener("change", () => this.say());
    state.addEventListener("back", () => this.element.isConnected && !this.element.hidden && void this.show());
  }

  async show() {
    this.say();
    if (!status().teach || status().writes === "closed") {
      fill(this.answers);
      fill(this.content, h("p", { class: "empty" }, "This server only searches. Start it with a workspace to teach it."));
      return;
    }
    try {
      this.drawAnswers();
      if (this.mode === "mine") {
        fill(this.content, this.mine.element);
        await this.mine.show();
        return;
      }
      const asker = this.askers[this.mode];
      if (asker.question) this.ask(asker.question);
      await asker.start();
    } catch (error) {
      complain(error);
    }
  }

  get keys() {
    /** @type {import("../base/keys.js").Keys} */
    const keys = {
      0: () => this.inGroups(() => ({ group: null, new: true })),
      u: () => this.unsure(),
      p: () => void this.back(),
      y: () => this.inPairs(true),
      n: () => this.inPairs(false),
      z: () => this.zoom(),
      g: () => this.others.focus(),
    };
    for (let key = 1; key <= MOST_GROUPS; key += 1) keys[key] = () => this.placeByKey(key);
    return keys;
  }

  /** @param {Mode} mode */
  async change(mode) {
    this.mode = mode;
    fill(this.content);
    fill(this.helping);
    await this.show();
  }

  /** @param {server.Question} question */
  ask(question) {
    if (this.mode === "mine") return;
    this.zoom = () => {};
    if ("done" in question) {
      fill(this.content, h("p", { class: "empty", data: { test: "done" } }, question.why));
      announce(question.why);
      return;
    }
    this.say();
    this.helping.textContent = question.helping?.text ?? "";
    this.helping.classList.toggle("enough", Boolean(question.helping?.stop));
    if (question.mode === "pairs") {
      const { element, zoom } = pairQuestion(question);
      this.zoom = zoom;
      fill(this.content, element);
      announce(`Are these alike? ${question.a.id} and ${question.b.id}`);
      return;
    }
    const place = (/** @type {number} */ group) => this.inGroups(() => ({ group, new: false }));
    const rename = async (/** @type {number} */ group, /** @type {string} */ name) => void (await server.nameGroup(group, name));
    fill(this.content, placeQuestion(question, { place, rename }));
    void this.others.show(question, status().counts?.groups ?? 0).catch(complain);
    const nearest = question.groups[0] ? `Nearest: ${groupName(question.groups[0])}` : "No group yet";
    announce(`Which group? ${question.item.id}. ${nearest}`);
  }

  /** Always in the same place, whatever is asked. */
  drawAnswers() {
    const act = (/** @type {string} */ key, /** @type {string} */ words, kind = "") =>
      button(withKey(key, words), `key-${key}`, () => this.keys[key](), { kind });
    const own = {
      groups: [act("0", "New group", "primary")],
      pairs: [act("y", "Alike", "alike"), act("n", "Not alike", "apart")],
      mine: [],
    }[this.mode];
    const common = this.mode === "mine" ? [] : [act("u", "Unsure"), act("p", "Back", "quiet")];
    const zoom = this.mode === "pairs" ? [act("z", "Enlarge", "quiet")] : [];
    fill(this.answers, ...own, ...common, ...zoom, this.mode === "groups" && this.others.element);
    this.answers.hidden = this.helping.hidden = this.mode === "mine";
  }

  /** @param {number} key */
  placeByKey(key) {
    const { question } = this.askers.groups;
    const group = question && "mode" in question && question.mode === "groups" ? question.groups[key - 1] : undefined;
    if (group) this.inGroups(() => ({ group: group.group, new: false }));
  }

  /** @param {() => object} said */
  inGroups(said) {
    const { question } = this.askers.groups;
    if (this.mode !== "groups" || !question || "done" in question || question.mode !== "groups") return;
    void this.askers.groups.answer({ kind: "place", item: question.item.id, ...said() }).catch(complain);
  }

  /** @param {boolean | null} similar */
  inPairs(similar) {
    const { question } = this.askers.pairs;
    if (this.mode !== "pairs" || !question || "done" in question || question.mode !== "pairs") return;
    void this.askers.pairs.answer({ kind: "pair", a: question.a.id, b: question.b.id, similar }).catch(complain);
  }

  unsure() {
    if (this.mode === "pairs") this.inPairs(null);
    else this.inGroups(() => ({ group: null, new: false }));
  }

  async back() {
    if (this.mode === "mine") return;
    try {
      const what = await this.askers[this.mode].back();
      if (what !== null) remark(what ? `Taken back: ${what}` : "There is no answer left to take back.");
    } catch (error) {
      complain(error);
    }
  }

  say() {
    const { counts } = status();
    if (!counts) return;
    const { answers, groups, unsure, pairs } = counts;
    const parts = [count(answers, "answer"), count(groups, "group"), pairs && count(pairs, "pair"), unsure && `${unsure} unsure`];
    this.counts.textContent = parts.filter(Boolean).join(" · ");
  }
}
