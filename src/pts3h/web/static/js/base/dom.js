/**
 * Elements from plain data. Text always goes in as text: nothing here, and nothing elsewhere, parses HTML.
 */

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * @param {HTMLElement | SVGElement} element
 * @param {Record<string, any>} properties `class`, `data`, `on`, ARIA and other attributes, DOM properties
 */
export function apply(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name === "on") {
      for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    } else if (name === "data") {
      for (const [key, text] of Object.entries(value)) element.dataset[key] = String(text);
    } else if (name === "class") {
      element.setAttribute("class", String(value));
    } else if (name in element && element.namespaceURI !== SVG) {
      Object.assign(element, { [name]: value });
    } else if (value === false && !name.startsWith("aria-")) {
      element.removeAttribute(name);
    } else {
      element.setAttribute(name, String(value));
    }
  }
}

/**
 * @param {string} tag
 * @param {Record<string, unknown>} [properties]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  apply(element, properties);
  element.append(...kept(children));
  return element;
}

/**
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  apply(element, attributes);
  element.append(...kept(children));
  return element;
}

/**
 * Puts other children in place of those that are there.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...kept(children));
}

/** @param {Child[]} children */
function kept(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

let lastId = 0;

/** An id that no other element has, for `for` and `aria-labelledby`. */
export function freshId(/** @type {string} */ stem) {
  lastId += 1;
  return `${stem}-${lastId}`;
}
