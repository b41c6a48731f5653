// How an op, an argument, a folded group and an open one look on the graph.

/** Returns the element of an item. */
function itemElement(app, item) {
  const { node } = item;
  if (node.kind === "argument") return argumentElement(app, node);
  return node.kind === "op" ? opElement(app, node) : groupElement(app, node);
}

function opElement(app, node) {
  const { model } = app;
  const op = model.ops[node.op];
  const [first] = op.results;
  const value = first === undefined ? null : model.values[first];
  const more = op.results.length > 1 ? ` +${op.results.length - 1}` : "";
  return element(
    "button",
    {
      type: "button",
      class: `node op ${isWarned(model, node.op) ? "warned" : ""}`,
      title: placeText(model, op.place),
    },
    badge(neededBy(model, node.op), "above"),
    element(
      "span",
      { class: "line" },
      element("span", { class: "name", text: shortName(op) }),
      value && element("span", { class: "value", text: value.name + more }),
    ),
    first === undefined
      ? element("span", { class: "muted", text: counted(op.operands.length, "value") })
      : shapeSign(model, first),
    badge(leftBy(model, node.op), "below"),
  );
}

function argumentElement(app, node) {
  const value = app.model.values[node.value];
  return element(
    "button",
    { type: "button", class: "node argument", title: `argument of @${value.function}` },
    element(
      "span",
      { class: "line" },
      element("span", { class: "name", text: value.label || "argument" }),
      element("span", { class: "value", text: value.name }),
    ),
    shapeSign(app.model, node.value),
  );
}

function groupElement(app, node) {
  return element(
    "button",
    {
      type: "button",
      class: `node group ${node.kind}`,
      "aria-expanded": "false",
      title: `${node.title} ${node.detail}`,
    },
    element(
      "span",
      { class: "line" },
      element(
        "span",
        { class: "name" },
        element("span", { class: "fold", "aria-hidden": "true", text: "▸ " }),
        node.title,
      ),
      groupBadge(node),
    ),
    element(
      "span",
      { class: "line muted" },
      detailSign(node.detail),
      element("span", { class: "count", text: counted(node.ops, "op") }),
    ),
  );
}

/** Returns a source line; where it is too long, its file is cut and not its number. */
function detailSign(detail) {
  const at = detail.lastIndexOf(":");
  const file = at < 0 ? detail : detail.slice(0, at);
  const line = at < 0 ? "" : detail.slice(at);
  return element(
    "span",
    { class: "detail mono" },
    element("span", { class: "file", text: file }),
    element("span", { text: line }),
  );
}

/** Returns the element of an open group: a frame with a head. */
function frameElement(app, { node }) {
  const head = element(
    "button",
    { type: "button", class: "frame-head", "aria-expanded": "true" },
    element("span", { class: "fold", "aria-hidden": "true", text: "▾ " }),
    element("span", { class: "name", text: node.title }),
    detailSign(node.detail),
    element("span", { class: "muted count", text: counted(node.ops, "op") }),
    groupBadge(node),
  );
  const isFunction = node.kind === "function";
  const more =
    isFunction || node.kind === "region"
      ? element("button", {
          type: "button",
          class: "quiet more",
          "data-does": "select",
          text: isFunction ? "Signature" : "Why",
        })
      : null;
  return element(
    "div",
    { class: `frame ${node.kind}` },
    element("div", { class: "frame-line" }, head, more),
  );
}

// Communication on nodes.

/** Returns the points at which operands of an op are moved. */
function neededBy(model, op) {
  return pointsOf(model, op).filter((point) => point.reason !== "reduction");
}

/** Returns the points at which results of an op are added up. */
function leftBy(model, op) {
  return pointsOf(model, op).filter((point) => point.reason === "reduction");
}

function pointsOf(model, op) {
  return (model.communicationOfOp.get(op) ?? []).map((number) => model.communication[number]);
}

function isWarned(model, op) {
  return pointsOf(model, op).some((point) => point.rematerializes);
}

function badge(points, where) {
  const text = badgeText(points);
  return text && element("span", { class: `badge ${where}`, text });
}

function groupBadge(node) {
  const text = badgeText(node.points, true);
  return text && element("span", { class: "badge", title: kindsOf(node.points).join(", "), text });
}

// What is selected: {op} and/or {value}, or {function}.

function selectionOf(model, node) {
  if (node.kind === "argument") return { value: node.value };
  if (node.kind === "function") return { function: node.function };
  const [first] = model.ops[node.op].results;
  return { op: node.op, value: first };
}

/** Returns the selection of a value, whatever it is. */
function selectionOfValue(model, value) {
  const { op } = model.values[value];
  return op === null ? { value } : { op, value };
}

/** Returns the id of what shows a selection on the graph. */
function idOfSelection(selection) {
  if (!selection) return null;
  if (selection.op !== undefined) return `o${selection.op}`;
  return selection.value === undefined ? null : `v${selection.value}`;
}
