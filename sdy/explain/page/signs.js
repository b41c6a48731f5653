// Signs that are the same everywhere: an axis, the dimensions of a value, a collective.

const AXIS_COLOURS = 8;

// Kinds of collectives as they stand on the graph.
const KIND_SIGNS = {
  "all-gather": "⇉",
  "all-reduce": "Σ",
  "reduce-scatter": "Σ⇶",
  "all-to-all": "⇄",
  "collective-permute": "↻",
};

const MOVE_SIGNS = { forward: "↓", backward: "↑", sideways: "↔", group: "⧉", result: "⇒" };

function axisClass(model, text) {
  const axis = model.axes.get(parseAxis(text).name);
  return axis ? `axis-${axis.number % AXIS_COLOURS}` : "axis-none";
}

/** Returns an axis with its whole name, as a sign in its colour. */
function axisSign(model, text) {
  return element("span", { class: `axis ${axisClass(model, text)}`, text });
}

/** Returns an axis as short as it can be, for the graph. */
function axisTagSign(model, text) {
  const { name, size } = parseAxis(text);
  const tag = model.axes.get(name)?.tag ?? name.slice(0, 3);
  return element(
    "span",
    { class: `axis tag ${axisClass(model, text)}`, title: text },
    size === null ? tag : `${tag}(${size})`,
  );
}

/** Returns the dimensions of a value, each with the axes that split it. */
function shapeSign(model, value) {
  const { shape, element_type: elementType } = model.values[value];
  const sharding = shardingOf(model, value);
  const dims = shape.map((size, dim) =>
    element(
      "span",
      { class: "dim" },
      size < 0 ? "?" : String(size),
      (sharding?.dimensions[dim]?.axes ?? []).map((axis) => axisTagSign(model, axis)),
    ),
  );
  const sums = (sharding?.unreduced ?? []).map((axis) =>
    element(
      "span",
      { class: "dim unreduced", title: "parts of a sum" },
      "Σ",
      axisTagSign(model, axis),
    ),
  );
  return element(
    "span",
    { class: "shape" },
    element("span", { class: "element", text: elementType }),
    dims,
    sums,
  );
}

/** Returns a sharding in full: each dimension with its axes. */
function shardingSign(model, number) {
  if (number === null) return element("span", { class: "muted", text: "no sharding" });
  const sharding = model.shardings[number];
  const dims = sharding.dimensions.map(({ axes, is_closed: isClosed }) =>
    element(
      "span",
      { class: "dim", title: isClosed ? "closed" : "open" },
      axes.map((axis) => axisSign(model, axis)),
      axes.length ? null : element("span", { class: "axis axis-none", text: "whole" }),
      isClosed ? null : element("span", { class: "open", text: "?" }),
    ),
  );
  const sums = sharding.unreduced.map((axis) =>
    element("span", { class: "dim unreduced" }, "Σ", axisSign(model, axis)),
  );
  return element(
    "span",
    { class: "shape", title: sharding.text },
    dims.length || sums.length ? [dims, sums] : "scalar",
  );
}

/** Returns what an annotation says; null of a manual computation, whose body has but a part. */
function shardingSignOf(model, annotation) {
  return annotation === null || annotation.sharding === null
    ? null
    : shardingSign(model, annotation.sharding);
}

/** Returns a collective with its axes and bytes. */
function collectiveSign(model, collective, times = 1) {
  return element(
    "span",
    { class: "collective" },
    element("span", { class: "kind", text: kindText(collective.kind) }),
    " ",
    collective.axes.map((axis) => axisSign(model, axis)),
    ` ${bytesText(collective.bytes)}`,
    times > 1 ? ` × ${COUNT.format(times)}` : null,
    collective.seconds === null || collective.seconds === undefined
      ? null
      : `, ${secondsText(times * collective.seconds)}`,
  );
}

/**
 * Returns what stands on the graph for some points of communication: their bytes, and their kind,
 * by its sign alone where there are several or where it is to be short; null for no points.
 */
function badgeText(points, isShort = false) {
  if (!points.length) return null;
  const kinds = kindsOf(points);
  const bytes = bytesText(sum(points, (point) => point.bytes));
  if (kinds.length === 1 && !isShort) return `${kindText(kinds[0])} ${bytes}`;
  return `${kinds.map((kind) => KIND_SIGNS[kind] ?? kind).join(" ")} ${bytes}`;
}

/** Returns the kinds of the collectives of some points, each once. */
function kindsOf(points) {
  return [...new Set(points.flatMap((point) => point.collectives.map(({ kind }) => kind)))];
}

function kindText(kind) {
  return `${KIND_SIGNS[kind] ?? "•"} ${kind}`;
}
