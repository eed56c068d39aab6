/** Answers to "is this hit like the query?", given on hits. The server keeps them; the tiles show them. */

import { announce, complain, remark } from "../base/notices.js";
import * as server from "../base/server.js";
import { learned, status } from "../base/state.js";

export class Marks {
  /** @param {(id: string) => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Map<string, boolean>} by query and hit */
    this.said = new Map();
    /** @type {{query: string, id: string, number: number}[]} what can be taken back */
    this.given = [];
  }

  /**
   * @param {string | null} query
   * @param {string} id
   */
  get(query, id) {
    return query === null ? undefined : this.said.get(key(query, id));
  }

  /** Whether this server takes answers. */
  static get open() {
    return status().teach && status().writes !== "closed";
  }

  /**
   * @param {string} query
   * @param {string} id
   * @param {boolean} similar
   * @returns {Promise<boolean>} whether the server has it
   */
  async give(query, id, similar) {
    try {
      const { answer, counts } = await server.answer({ kind: "pair", a: query, b: id, similar });
      this.said.set(key(query, id), similar);
      this.given.push({ query, id, number: answer.number });
      learned({ counts });
      announce(similar ? "Kept: alike" : "Kept: not alike");
      this.changed(id);
      return true;
    } catch (error) {
      complain(error);
      return false;
    }
  }

  /** Only what was answered here: what stands on another page is taken back there. */
  async takeBack() {
    const last = this.given.pop();
    if (!last) {
      remark("No answer was given here. Press y or n on a hit to give one.");
      return;
    }
    try {
      const { counts } = await server.undo(last.number);
      this.said.delete(key(last.query, last.id));
      learned({ counts });
      remark(`Taken back: ${last.id}`);
      this.changed(last.id);
    } catch (error) {
      this.given.push(last);
      complain(error);
    }
  }
}

/**
 * @param {string} query
 * @param {string} id
 */
const key = (query, id) => JSON.stringify([query, id]);
