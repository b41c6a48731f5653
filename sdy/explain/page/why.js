// Why a dimension is split along its axes, and why others are not.

// Of a long chain, this many steps are shown at each end.
const CHAIN_ENDS = 4;

/** Returns what is to be said of each dimension of a value. */
function whySection(app, number) {
  const { model } = app;
  const value = model.values[number];
  if (!value.shape.length) return null;
  const arrivals = model.why[number] ?? [];
  const against = model.why_not[number] ?? [];
  // After propagation every dimension is closed: what the program itself closes, annotations say.
  const said = model.annotations.filter((annotation) => annotation.value === number);
  const dims = value.shape.map((size, dim) =>
    dimensionItem(app, value, {
      dim,
      size,
      isClosed: said.some(
        ({ sharding }) => model.shardings[sharding]?.dimensions[dim]?.is_closed ?? false,
      ),
      arrivals: arrivals.filter(([at]) => at === dim),
      against: against.find((entry) => entry.dim === dim),
    }),
  );
  return section("Why", dims);
}

function dimensionItem(app, value, { dim, size, isClosed, arrivals, against }) {
  const { model } = app;
  const local = value.local_shape[dim];
  const head = element(
    "summary",
    {},
    element("span", { class: "strong", text: `dim ${dim}` }),
    element("span", {
      class: "muted",
      text: local === size ? ` ${size} ` : ` ${size}, ${local} on a device `,
    }),
    arrivals.map(([, axis]) => axisSign(model, axis)),
    arrivals.length
      ? null
      : element("span", { class: "axis axis-none", text: isClosed ? "whole, closed" : "whole" }),
  );
  const chains = groupChains(model, arrivals).map(({ axes, chain }) => chainItem(app, axes, chain));
  return element(
    "details",
    { class: "dimension", open: true },
    head,
    chains,
    arrivals.length ? null : whyNotItem(app, against, isClosed),
  );
}

/** Joins the axes whose chains go the same way. */
function groupChains(model, arrivals) {
  const groups = new Map();
  for (const [, axis, arrival] of arrivals) {
    const chain = chainTo(model, arrival);
    const key = chain
      .map(({ value, dim, move, annotation, name }) =>
        [value ?? name, dim, move === null ? null : stepKey(model.moves[move]), annotation].join(),
      )
      .join(";");
    if (!groups.has(key)) groups.set(key, { axes: [], chain });
    groups.get(key).axes.push(axis);
  }
  return [...groups.values()];
}

/** What of a move is shown. */
function stepKey(move) {
  return [move.op, move.direction, move.factor].join();
}

function chainItem(app, axes, chain) {
  const { model } = app;
  const count = chain.length - 1;
  return element(
    "div",
    { class: "way" },
    element(
      "p",
      {},
      axes.map((axis) => axisSign(model, axis)),
      element("span", {
        class: "muted",
        text: count ? ` came in ${counted(count, "step")}` : " is annotated here",
      }),
    ),
    element("ol", { class: "chain" }, chainSteps(app, chain)),
  );
}

/** Returns the steps of a chain; of a long one the ends, and what shows the others. */
function chainSteps(app, chain) {
  const stepsOf = (arrivals) => arrivals.map((arrival) => stepItem(app, arrival));
  if (chain.length <= 2 * CHAIN_ENDS + 1) return stepsOf(chain);
  const hidden = chain.slice(CHAIN_ENDS, -CHAIN_ENDS);
  const gap = element(
    "li",
    { class: "gap" },
    link(counted(hidden.length, "more step"), () => gap.replaceWith(...stepsOf(hidden))),
  );
  return [...stepsOf(chain.slice(0, CHAIN_ENDS)), gap, ...stepsOf(chain.slice(-CHAIN_ENDS))];
}

function stepItem(app, arrival) {
  const { model } = app;
  const where = [
    arrival.value === null
      ? element("span", { class: "mono", text: arrival.name })
      : valueLink(app, arrival.value),
    element("span", { class: "muted", text: ` dim ${arrival.dim}` }),
  ];
  if (arrival.move === null) {
    const annotation = arrival.annotation === null ? null : model.annotations[arrival.annotation];
    return element(
      "li",
      { class: "start" },
      element("span", { class: "sign", "aria-hidden": "true", text: "⚑" }),
      element(
        "span",
        {},
        annotation ? element("strong", { text: annotation.text }) : "its start is not known",
        " ",
        shardingSignOf(model, annotation),
        annotation?.value === arrival.value ? null : [" on ", where],
      ),
      annotation ? annotationLine(model, annotation) : null,
    );
  }
  const move = model.moves[arrival.move];
  return element(
    "li",
    {},
    element("span", {
      class: "sign",
      title: move.direction,
      text: MOVE_SIGNS[move.direction] ?? "→",
    }),
    element(
      "span",
      {},
      where,
      element("span", { class: "muted", text: " by " }),
      move.op === null
        ? element("span", { class: "mono", text: move.op_name })
        : moveLink(app, move),
    ),
    sourceLine(model, move.place),
    element("span", { class: "fine", text: moveText(move) }),
  );
}

/** Returns the place of an annotation; null where its text says that, as of an argument. */
function annotationLine(model, { text, place }) {
  return text.includes(placeText(model, place)) ? null : sourceLine(model, place);
}

function moveLink(app, move) {
  const [first] = app.model.ops[move.op].results;
  return link(shortName(app.model.ops[move.op]), () => app.select({ op: move.op, value: first }), {
    class: "link mono",
  });
}

function moveText(move) {
  const ways = {
    forward: "forward, operand to result",
    backward: "backward, result to operand",
    sideways: "sideways, operand to operand",
    group: "within its sharding group",
    result: "between main's result and the value it returns",
  };
  return `${ways[move.direction] ?? move.direction} · factor ${move.factor} · user priority ${move.user_priority}, op priority ${move.op_priority}, ${move.strategy}`;
}

// Why not.

const MOST_CONFLICTS = 4;

function whyNotItem(app, against, isClosed) {
  if (!against) {
    const text = isClosed
      ? "It is closed by its annotation."
      : "It has no annotation here, and nothing that it is tied to is split.";
    return element("p", { class: "muted", text });
  }
  const { model } = app;
  const closedBy = against.closed_by === null ? null : model.annotations[against.closed_by];
  const shown = against.conflicts.slice(0, MOST_CONFLICTS);
  return [
    closedBy &&
      element(
        "p",
        {},
        "Closed by ",
        element("strong", { text: closedBy.text }),
        " ",
        shardingSignOf(model, closedBy),
        " ",
        annotationLine(model, closedBy),
      ),
    element(
      "ul",
      { class: "conflicts" },
      shown.map((conflict) => conflictItem(app, conflict)),
    ),
    more(against.conflicts.length, shown.length),
  ];
}

function conflictItem(app, conflict) {
  const { model } = app;
  const winner = conflict.winner === null ? null : chainTo(model, conflict.winner);
  return element(
    "li",
    {},
    element(
      "p",
      {},
      conflict.axes.map((axis) => axisSign(model, axis)),
      " ",
      element("span", { class: "reason", text: conflict.reason }),
      conflict.op === null ? ` at ${conflict.op_name}` : [" at ", opLink(app, conflict.op)],
    ),
    conflict.text ? element("p", { text: conflict.text }) : null,
    conflict.source === null
      ? null
      : element("p", { class: "muted" }, "offered by ", valueLink(app, conflict.source)),
    sourceLine(model, conflict.place),
    winner &&
      element(
        "details",
        {},
        element("summary", { text: "How the winner has the axis" }),
        chainItem(app, [winner[winner.length - 1].axis], winner),
      ),
  );
}

/** Returns the ids of the things on the graph that the chains of a value go through. */
function idsOnChains(model, value) {
  const ids = new Set();
  for (const [, , arrival] of value === undefined ? [] : (model.why[value] ?? [])) {
    for (let at = arrival; at !== null; at = model.arrivals[at].previous) {
      const on = model.arrivals[at];
      if (on.value !== null) ids.add(idOfSelection(selectionOfValue(model, on.value)));
    }
  }
  return ids;
}
