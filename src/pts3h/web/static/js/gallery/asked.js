/**
 * What is searched for, as it stands in the address: a search can be kept, shared, and left by the way back.
 *
 * @typedef {object} Asked
 * @property {string[]} like ids
 * @property {string[]} unlike ids
 * @property {string | null} code of a picture from outside, in hex
 * @property {string} by
 * @property {number} k
 * @property {number | null} radius
 * @property {Condition[]} where
 * @property {string} names a part of a name, for the gallery
 *
 * @typedef {{field: string, op: string, value: string | number | boolean}} Condition
 */

export const PAGE = 24;

/**
 * @param {URLSearchParams} query
 * @returns {Asked}
 */
export function read(query) {
  const radius = query.get("radius");
  return {
    like: query.getAll("like"),
    unlike: query.getAll("unlike"),
    code: query.get("code"),
    by: query.get("by") ?? "both",
    k: Math.max(1, Number(query.get("k")) || PAGE),
    radius: radius === null || Number.isNaN(Number(radius)) ? null : Number(radius),
    where: conditions(query.get("where")),
    names: query.get("names") ?? "",
  };
}

/** @param {Asked} asked */
export function write(asked) {
  const query = new URLSearchParams();
  for (const id of asked.like) query.append("like", id);
  for (const id of asked.unlike) query.append("unlike", id);
  if (asked.code) query.set("code", asked.code);
  if (asked.by !== "both") query.set("by", asked.by);
  if (asked.k !== PAGE) query.set("k", String(asked.k));
  if (asked.radius !== null) query.set("radius", String(asked.radius));
  if (asked.where.length) query.set("where", JSON.stringify(asked.where.map((c) => [c.field, c.op, c.value])));
  if (asked.names) query.set("names", asked.names);
  return query;
}

/** Whether there is something to search for; else the gallery is shown. */
export const isSearch = (/** @type {Asked} */ asked) => Boolean(asked.code || asked.like.length);

/**
 * The one item that is searched with, where there is one: answers can be about it.
 * @param {Asked} asked
 */
export const onlyItem = (asked) =>
  asked.like.length === 1 && !asked.unlike.length && !asked.code ? asked.like[0] : null;

/** @param {Asked} asked */
export const nothing = (asked) => ({ ...asked, like: [], unlike: [], code: null, names: "" });

/**
 * The server weighs items against each other, not a picture from outside: that one gives way.
 * @param {Asked} asked
 * @param {string} id
 * @param {"like" | "unlike"} side
 */
export function add(asked, id, side) {
  const without = { ...drop(asked, id), code: null };
  return { ...without, [side]: [...without[side], id] };
}

/**
 * @param {Asked} asked
 * @param {string} id
 */
export function drop(asked, id) {
  const others = (/** @type {string[]} */ ids) => ids.filter((other) => other !== id);
  return { ...asked, like: others(asked.like), unlike: others(asked.unlike) };
}

/**
 * The filter as the server reads it.
 * @param {Asked} asked
 */
export function filter(asked) {
  if (!asked.where.length) return null;
  return { and: asked.where.map(({ field, op, value }) => ({ [field]: op === "==" ? value : { [op]: value } })) };
}

/**
 * @param {Asked} asked
 * @param {number} offset
 */
export function body(asked, offset) {
  const where = filter(asked);
  return {
    ...(asked.like.length && { like: asked.like }),
    ...(asked.unlike.length && { unlike: asked.unlike }),
    ...(asked.code && { code: asked.code }),
    ...(asked.radius !== null && { radius: asked.radius }),
    ...(where && { where }),
    k: asked.k,
    by: asked.by,
    offset,
  };
}

/**
 * @param {string | null} text
 * @returns {Condition[]}
 */
function conditions(text) {
  try {
    const list = /** @type {[string, string, Condition["value"]][]} */ (JSON.parse(text ?? "[]"));
    return list.map(([field, op, value]) => ({ field: String(field), op: String(op), value }));
  } catch {
    return []; // an address that somebody cut
  }
}
