/** One question after the other: the answer is kept by the server before the next one is shown. */

import { preload } from "../base/pictures.js";
import * as server from "../base/server.js";

/** @typedef {"groups" | "pairs"} Mode */
/** @typedef {server.Question} Question */

export class Asker {
  /**
   * @param {Mode} mode
   * @param {(question: Question) => void} ask shows a question
   * @param {(counts: server.Counts) => void} counted
   */
  constructor(mode, ask, counted) {
    this.mode = mode;
    this.ask = ask;
    this.counted = counted;
    /** @type {Question | null} */
    this.question = null;
    /** @type {{question: Question, number: number}[]} what was answered here, to go back to */
    this.past = [];
    this.busy = false;
  }

  /** The question that stands, or the first. */
  async start() {
    await this.alone(async () => {
      if (!this.question || "done" in this.question) await this.next();
    });
  }

  /**
   * Keys pressed before the next question is shown are about nothing: they are ignored.
   * @param {object} said
   */
  async answer(said) {
    await this.alone(async () => {
      const question = this.question;
      if (!question || "done" in question) return;
      const { answer, counts, next } = await server.answer(said, this.mode);
      this.past.push({ question, number: answer.number });
      this.counted(counts);
      if (next) this.set(next);
      else await this.next();
    });
  }

  /**
   * Takes the last answer back and asks it again.
   * @returns {Promise<string | null>} what was taken back: empty if nothing was left, null while something else goes on
   */
  async back() {
    let what = null;
    await this.alone(async () => {
      const last = this.past[this.past.length - 1];
      const { answer, counts } = await server.undo(last?.number);
      this.past.pop();
      this.counted(counts);
      what = answer ? (answer.item ?? answer.a ?? "a change of groups") : "";
      if (last) this.set(last.question);
      else await this.next();
    });
    return what;
  }

  /** Groups changed: the question is the same, but what it offers is not. */
  async again() {
    this.question = null;
    await this.start();
  }

  async next() {
    this.set(await server.nextQuestion(this.mode));
  }

  /** @param {Question} question */
  set(question) {
    this.question = question;
    this.ask(question);
    void this.prepare(question).catch(() => {}); // only a help: the next question is asked for again
  }

  /**
   * The pictures of the question that will likely follow.
   * @param {Question} question
   */
  async prepare(question) {
    if ("done" in question) return;
    const here = question.mode === "groups" ? [question.item.id] : [question.a.id, question.b.id];
    const following = await server.nextQuestion(this.mode, here);
    if ("done" in following) return;
    const items = following.mode === "groups" ? [following.item] : [following.a, following.b];
    preload(items.filter((item) => item.picture).map((item) => server.picture(item.id)));
  }

  /** @param {() => Promise<void>} act */
  async alone(act) {
    if (this.busy) return;
    this.busy = true;
    try {
      await act();
    } finally {
      this.busy = false;
    }
  }
}
