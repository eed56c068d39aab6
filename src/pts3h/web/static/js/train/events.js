/** Server-sent events, read by fetch: an EventSource could not send the token. */

import { request } from "../base/request.js";

const PAUSE = 1000; // milliseconds before it goes on after a break

/**
 * @typedef {{id: string, event: string, data: string}} ServerEvent
 */

/**
 * Every event from the first, or from where a break was, until the stream ends in order or `signal` says so.
 * @param {string} path
 * @param {AbortSignal} signal
 * @param {(event: ServerEvent) => boolean} take true: it was the last
 */
export async function follow(path, signal, take) {
  let last = "";
  while (!signal.aborted) {
    try {
      const headers = { Accept: "text/event-stream", ...(last && { "Last-Event-ID": last }) };
      const response = await request(path, { headers, signal });
      if (response.status === 204) return; // it is over, and all of it was told
      for await (const event of events(response)) {
        last = event.id || last;
        if (take(event)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (/** @type {{status?: number}} */ (error).status) throw error; // the server says no: no use to go on
    }
    await new Promise((resume) => setTimeout(resume, PAUSE));
  }
}

/**
 * @param {Response} response
 * @returns {AsyncGenerator<ServerEvent>}
 */
async function* events(response) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parse(block);
        if (event.data) yield event;
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/**
 * @param {string} block
 * @returns {ServerEvent}
 */
function parse(block) {
  const event = { id: "", event: "message", data: "" };
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === "data") event.data += event.data ? `\n${value}` : value;
    else if (name === "id" || name === "event") event[name] = value;
  }
  return event;
}
