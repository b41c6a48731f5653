// Elements of the page. What a program says becomes text nodes and attributes that hold text,
// never markup: there is no other way in this file to make an element.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Returns an element.
 *
 * properties: `text` is its text, `on` its listeners by event, `properties` are set as they are
 * (`hidden`, `tabIndex`), and all others are attributes; one that is null or false is left out.
 */
function element(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** Returns an element of a drawing; as `element`. */
function svgElement(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(made, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name === "text") made.textContent = value;
    else if (name === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else if (name === "properties") Object.assign(made, value);
    else if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

/** Returns a button that looks like a link and does something here. */
function link(text, action, properties = {}) {
  return element(
    "button",
    { type: "button", class: "link", on: { click: action }, ...properties },
    text,
  );
}

/** Returns a section with a heading; null where it would be empty. */
function section(heading, ...children) {
  const content = children.flat(Infinity).filter((child) => child !== null && child !== undefined);
  if (!content.length) return null;
  return element("section", {}, element("h3", { text: heading }), content);
}
