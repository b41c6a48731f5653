// The panel beside the graph: all that is known of the op, value or function that is selected.

const MOST_LISTED = 12;

/** Fills the panel. */
function showDetails(app, panel) {
  const { model, selection } = app;
  let content;
  if (!selection) content = overviewPanel(app);
  else if (selection.function !== undefined)
    content = functionPanel(app, model.functions[selection.function]);
  else if (selection.op === undefined) content = valuePanel(app, selection.value);
  else content = opPanel(app, selection);
  const close =
    selection &&
    element(
      "button",
      {
        type: "button",
        class: "quiet close",
        "aria-label": "Close",
        on: { click: () => app.select(null) },
      },
      "✕",
    );
  panel.replaceChildren(...[close, content].flat(Infinity).filter(Boolean));
  panel.scrollTop = 0;
}

function overviewPanel(app) {
  const { model } = app;
  const annotations = model.annotations
    .slice(0, 4 * MOST_LISTED)
    .map((annotation) =>
      element(
        "li",
        {},
        annotation.value === null
          ? annotation.text
          : link(annotation.text, () => app.select(selectionOfValue(model, annotation.value))),
        " ",
        shardingSignOf(model, annotation),
        annotationLine(model, annotation),
      ),
    );
  return [
    element("h2", { text: "Why is it sharded so?" }),
    element(
      "p",
      {},
      "Select an op or a value to see how its sharding came to it from an annotation, op by op.",
    ),
    legend(model),
    section(
      `${counted(model.annotations.length, "annotation")}`,
      element("ul", { class: "plain" }, annotations),
      more(model.annotations.length, annotations.length),
    ),
  ];
}

function functionPanel(app, made) {
  const row = (value) => element("li", {}, valueLink(app, value), " ", shapeSign(app.model, value));
  return [
    element("p", { class: "kicker", text: "function" }),
    element("h2", { class: "mono", text: `@${made.name}` }),
    section(
      counted(made.arguments.length, "argument"),
      element("ul", { class: "plain" }, made.arguments.map(row)),
    ),
    section(
      counted(made.results.length, "result"),
      element("ul", { class: "plain" }, made.results.map(row)),
    ),
  ];
}

function opPanel(app, { op: number, value }) {
  const { model } = app;
  const op = model.ops[number];
  const target = op.name === "func.call" ? model.functionNumbers.get(op.target) : undefined;
  const inside = model.ops[number].arguments;
  return [
    element("p", { class: "kicker", text: `op in @${op.function}` }),
    element("h2", { class: "mono" }, shortName(op)),
    sourceLine(model, op.place),
    tools(
      app,
      target === undefined ? [] : [link(`Go to @${op.target}`, () => app.goToFunction(target))],
    ),
    op.results.length > 1 ? resultTabs(app, number, value) : null,
    value === undefined ? null : valueSections(app, value),
    communicationSection(app, model.communicationOfOp.get(number) ?? []),
    section(counted(op.operands.length, "operand"), valueList(app, op.operands)),
    inside.length
      ? section(counted(inside.length, "value inside its regions"), valueList(app, inside))
      : null,
    framesSection(model, op.place),
  ];
}

function valuePanel(app, number) {
  const value = app.model.values[number];
  return [
    element("p", {
      class: "kicker",
      text: `${value.name.startsWith("@") ? "result" : "argument"} of @${value.function}`,
    }),
    tools(app, []),
    valueSections(app, number),
    framesSection(app.model, value.place),
  ];
}

/** Returns what is said of a value: its sharding, why it is so, and which device holds what. */
function valueSections(app, number) {
  const { model } = app;
  const value = model.values[number];
  const users = model.users[number];
  return [
    element(
      "div",
      { class: "headline" },
      element("span", { class: "mono strong", id: "selected-name", text: value.spelling }),
      value.label ? element("span", { class: "mono muted", text: value.label }) : null,
    ),
    element(
      "p",
      { class: "facts mono" },
      value.type,
      element(
        "span",
        { class: "muted" },
        ` · ${shapeText(value.local_shape)} on a device, ${bytesText(localBytes(value))}`,
      ),
    ),
    element("p", { class: "facts" }, shardingSign(model, value.sharding)),
    value.manual_axes.length
      ? element(
          "p",
          { class: "facts" },
          "In a manual computation: each device along ",
          value.manual_axes.map((axis) => axisSign(model, axis)),
          " has a value of its own.",
        )
      : null,
    whySection(app, number),
    placementSection(model, number),
    movedSection(app, number),
    section(counted(users.length, "user"), opList(app, users)),
    section(
      "Returned as",
      model.returned.has(number) ? valueList(app, model.returned.get(number)) : null,
    ),
  ];
}

function resultTabs(app, op, selected) {
  const { model } = app;
  const { results } = model.ops[op];
  if (results.length > MOST_LISTED) return resultMenu(app, op, selected);
  return element(
    "div",
    { class: "choices", role: "group", "aria-label": "Results" },
    results.map((value) =>
      element(
        "button",
        {
          type: "button",
          "aria-pressed": value === selected,
          on: { click: () => app.select({ op, value }) },
        },
        model.values[value].name,
      ),
    ),
  );
}

/** Returns the results of an op that has many, as a menu. */
function resultMenu(app, op, selected) {
  const { model } = app;
  const menu = element(
    "select",
    { "aria-label": "Result" },
    model.ops[op].results.map((value) =>
      element("option", {
        value,
        text: model.values[value].name,
        properties: { selected: value === selected },
      }),
    ),
  );
  menu.addEventListener("change", () => app.select({ op, value: Number(menu.value) }));
  return element("p", {}, menu);
}

function tools(app, others) {
  return element(
    "p",
    { class: "tools" },
    link("Show in the graph", () => app.showInGraph(), { id: "show-in-graph" }),
    others,
  );
}

// Lists.

function valueLink(app, number) {
  const value = app.model.values[number];
  const text = value.label ? `${value.spelling} ${value.label}` : value.spelling;
  return link(text, () => app.select(selectionOfValue(app.model, number)), { class: "link mono" });
}

function opLink(app, number) {
  const { model } = app;
  const op = model.ops[number];
  const [first] = op.results;
  const text = first === undefined ? shortName(op) : `${shortName(op)} ${model.values[first].name}`;
  return link(text, () => app.select({ op: number, value: first }), { class: "link mono" });
}

function valueList(app, values) {
  const shown = values.slice(0, 4 * MOST_LISTED);
  return [
    element(
      "ul",
      { class: "plain" },
      shown.map((value) =>
        element("li", {}, valueLink(app, value), " ", shapeSign(app.model, value)),
      ),
    ),
    more(values.length, shown.length),
  ];
}

function opList(app, ops) {
  if (!ops.length) return null;
  const shown = ops.slice(0, MOST_LISTED);
  return [
    element(
      "ul",
      { class: "plain" },
      shown.map((op) =>
        element("li", {}, opLink(app, op), " ", sourceLine(app.model, app.model.ops[op].place)),
      ),
    ),
    more(ops.length, shown.length),
  ];
}

function more(count, shown) {
  return count > shown
    ? element("p", { class: "muted", text: `and ${COUNT.format(count - shown)} more` })
    : null;
}

// Source.

function sourceLine(model, number) {
  const text = placeText(model, number);
  return text
    ? element(
        "span",
        { class: "source mono", title: model.places[number].frames[0]?.file ?? "" },
        text,
      )
    : null;
}

function framesSection(model, number) {
  const { label, frames } = model.places[number];
  if (!frames.length) return null;
  const rows = frames.map((frame) =>
    element(
      "li",
      { title: frame.file },
      element("span", { class: "mono", text: `${frameText(frame)}:${frame.column}` }),
      ` ${frame.function}`,
    ),
  );
  return section(
    "Source",
    label ? element("p", { class: "mono muted", text: label }) : null,
    element("ol", { class: "plain frames" }, rows),
  );
}

// Communication.

function communicationSection(app, numbers) {
  const points = numbers.map((number) => app.model.communication[number]);
  return points.length
    ? section(
        "Communication here",
        points.map((point) => communicationItem(app, point)),
      )
    : null;
}

/** Says where else a value is moved: at its users. */
function movedSection(app, number) {
  const { model } = app;
  const points = model.users[number]
    .flatMap((op) => pointsOf(model, op))
    .filter((point) => point.value === number && point.op !== app.selection?.op);
  return points.length
    ? section(
        "Moved for its users",
        points.slice(0, MOST_LISTED).map((point) => communicationItem(app, point)),
      )
    : null;
}

function communicationItem(app, point) {
  const { model } = app;
  return element(
    "div",
    { class: `point${point.rematerializes ? " warned" : ""}` },
    element(
      "p",
      {},
      element("strong", { text: point.reason }),
      point.value === null ? null : [" of ", valueLink(app, point.value)],
      point.op === null
        ? null
        : [point.reason === "reduction" ? " by " : " for ", opLink(app, point.op)],
    ),
    element(
      "p",
      { class: "facts" },
      shardingSign(model, point.from),
      " → ",
      shardingSign(model, point.to),
    ),
    point.collectives.map((collective) =>
      element("p", {}, collectiveSign(model, collective, timesOf(point))),
    ),
    point.rematerializes
      ? element("p", {
          class: "warning",
          text: "XLA will gather the whole tensor and split it again (involuntary full rematerialization).",
        })
      : null,
    sourceLine(model, point.place),
  );
}

/** Returns the meaning of colours and signs. */
function legend(model) {
  const sizes = new Map(
    model.meshes.flatMap((mesh) => mesh.axes.map((axis) => [axis.name, axis.size])),
  );
  const axes = [...model.axes.values()].map(({ name, tag, number }) =>
    element(
      "li",
      {},
      element("span", { class: `axis tag axis-${number % AXIS_COLOURS}`, text: tag }),
      element("span", { class: `swatch axis-${number % AXIS_COLOURS}` }),
      ` ${name}`,
      sizes.has(name)
        ? element("span", { class: "muted", text: ` ${sizes.get(name)} devices` })
        : null,
    ),
  );
  const kinds = Object.entries(KIND_SIGNS).map(([kind, sign]) =>
    element("li", {}, element("span", { class: "sign", text: sign }), ` ${kind}`),
  );
  return section(
    "Legend",
    element(
      "ul",
      { class: "legend" },
      axes,
      element(
        "li",
        {},
        element("span", { class: "swatch whole" }),
        " not split: every device has all of it",
      ),
    ),
    element(
      "ul",
      { class: "legend" },
      element(
        "li",
        {},
        element("span", { class: "swatch moved-swatch" }),
        " moved between devices",
      ),
      kinds,
    ),
  );
}
