/** One request to the server: token, errors in words, and whether the server answers at all. */

import { askForToken, token } from "./token.js";

/** What the server says is wrong, in one line. */
export class ServerError extends Error {
  /**
   * @param {string} message
   * @param {string} code
   * @param {number} status
   */
  constructor(message, code, status) {
    super(message);
    this.name = "ServerError";
    this.code = code;
    this.status = status;
  }
}

/** Nobody answers. */
export class Offline extends Error {
  constructor() {
    super("The server does not answer. Start it again if you stopped it; this page goes on by itself.");
    this.name = "Offline";
  }
}

/** `fail` when a request found no server, `answer` when one was answered. */
export const connection = new EventTarget();

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<Response>} an answer that is in order; else it throws {@link ServerError} or {@link Offline}
 */
export async function request(path, options = {}) {
  const used = token();
  const headers = new Headers(options.headers);
  if (used) headers.set("Authorization", `Bearer ${used}`);
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    connection.dispatchEvent(new Event("fail"));
    throw new Offline();
  }
  connection.dispatchEvent(new Event("answer"));
  if (response.ok) return response;
  const said = await problem(response);
  if (response.status === 401 && (await askForToken(used))) return request(path, options);
  throw said;
}

/** @param {Response} response */
async function problem(response) {
  const body = await response.json().catch(() => ({}));
  const text = body.error || `The server answered ${response.status}. Try again; its log says more.`;
  return new ServerError(text, body.code || "unknown", response.status);
}

/**
 * @param {string} path
 * @param {Record<string, unknown>} [query] lists are repeated; null, undefined and "" are left out
 */
export function address(path, query = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") search.append(name, String(one));
    }
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

/**
 * @param {string} path
 * @param {Record<string, unknown>} [query]
 * @param {AbortSignal} [signal]
 */
export async function get(path, query, signal) {
  return (await request(address(path, query), { signal })).json();
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
export async function send(method, path, body) {
  const options = { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body ?? {}) };
  return (await request(path, options)).json();
}
