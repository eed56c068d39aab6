/** The address after # says what is shown: `#/duplicates`, `#/?like=cats/1.jpg&by=look`. */

/** @typedef {{view: string, query: URLSearchParams}} Place */

/** @returns {Place} */
export function place() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { view: path, query: new URLSearchParams(query) };
}

/**
 * @param {string} view
 * @param {URLSearchParams} [query]
 * @param {{replace?: boolean}} [how] replace: the way back skips the place that is left
 */
export function go(view, query = new URLSearchParams(), { replace = false } = {}) {
  const text = query.toString();
  const hash = `#/${view}${text ? `?${text}` : ""}`;
  if (location.hash === hash) return;
  if (!replace) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
