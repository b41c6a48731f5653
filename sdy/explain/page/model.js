// The document with what is looked up often: users of values, ops in regions, communication by op.

const ELEMENT_BITS = /^(?:[a-z]+?)(\d+)/;

/** Reads the document; see docs/explain.md for its tables. */
function readModel(data) {
  const model = { ...data };
  model.communication = data.communication ?? [];
  model.suggestions = data.suggestions ?? [];
  model.users = data.values.map(() => []);
  model.inside = new Map();
  data.ops.forEach((op, number) => {
    for (const value of new Set(op.operands)) model.users[value].push(number);
    if (op.parent !== null) listed(model.inside, op.parent).push(number);
  });
  model.functionNumbers = new Map(data.functions.map((made, number) => [made.name, number]));
  model.returned = new Map();
  for (const made of data.functions) readResults(model, made);
  model.communicationOfOp = new Map();
  model.communication.forEach((point, number) => {
    if (point.op !== null) listed(model.communicationOfOp, point.op).push(number);
  });
  model.axes = readAxes(data);
  return model;
}

/** Notes which results of a function a value is returned as. */
function readResults(model, made) {
  const last = model.ops[made.ops[made.ops.length - 1]];
  if (!last) return;
  last.operands.forEach((value, index) => {
    if (index < made.results.length) listed(model.returned, value).push(made.results[index]);
  });
}

/** Returns the list of a key, made where there is none. */
function listed(map, key) {
  if (!map.has(key)) map.set(key, []);
  return map.get(key);
}

/** Returns what an axis text such as `data:(1)2` says. */
function parseAxis(text) {
  const match = /^(.*):\((\d+)\)(\d+)$/s.exec(text);
  if (!match) return { name: text, preSize: 1, size: null };
  return { name: match[1], preSize: Number(match[2]), size: Number(match[3]) };
}

/** Returns for each axis name of the meshes its colour (a number), tag and size. */
function readAxes(data) {
  const names = [...new Set(data.meshes.flatMap((mesh) => mesh.axes.map((axis) => axis.name)))];
  for (const sharding of data.shardings) {
    const texts = [
      ...sharding.dimensions.flatMap((d) => d.axes),
      ...sharding.replicated,
      ...sharding.unreduced,
    ];
    for (const text of texts) {
      const { name } = parseAxis(text);
      if (!names.includes(name)) names.push(name); // Of a mesh that is written in the sharding.
    }
  }
  return new Map(names.map((name, number) => [name, { name, number, tag: axisTag(name, names) }]));
}

/** Returns the shortest beginning of a name that no other name has; at most three characters. */
function axisTag(name, names) {
  const letters = [...name];
  for (let length = 1; length < Math.min(3, letters.length); length += 1) {
    const tag = letters.slice(0, length).join("");
    if (!names.some((other) => other !== name && other.startsWith(tag))) return tag;
  }
  return letters.slice(0, 3).join("");
}

// Questions about one thing.

function shardingOf(model, value) {
  const number = model.values[value].sharding;
  return number === null ? null : model.shardings[number];
}

/** Returns the axes that split a value, in the order of its dimensions. */
function splittingAxes(model, value) {
  const sharding = shardingOf(model, value);
  return sharding ? sharding.dimensions.flatMap((dimension) => dimension.axes) : [];
}

/** Returns the name of an op without its dialect's: `dot_general`. */
function shortName(op) {
  const short = op.name.replace(/^(stablehlo|func|chlo|mhlo|sdy)\./, "");
  return op.target ? `${short} @${op.target}` : short;
}

/** Returns the last part of a path: `model.py`. */
function fileName(path) {
  return path.split(/[/\\]/).pop() || path;
}

function frameText(frame) {
  return `${fileName(frame.file)}:${frame.line}`;
}

/** Returns where something comes from: `model.py:12 in loss`, else its label, else ``. */
function placeText(model, number) {
  const place = model.places[number];
  if (!place.frames.length) return place.label;
  const [frame] = place.frames;
  const name = frame.function.split(".<locals>.").pop();
  return frameText(frame) + (name ? ` in ${name}` : "");
}

/** Returns the bytes of a value on one device; 0 where its elements have no whole size. */
function localBytes(value) {
  const bits = value.element_type.startsWith("complex")
    ? 2 * Number(/\d+/.exec(value.element_type)?.[0] ?? 0)
    : Number(ELEMENT_BITS.exec(value.element_type)?.[1] ?? 0);
  return Math.ceil((value.local_shape.reduce((product, size) => product * size, 1) * bits) / 8);
}

/** Returns how often a point of communication happens in one run. */
function timesOf(point) {
  return point.times ?? 1;
}

/** Returns the chain of arrivals from the annotation to one. */
function chainTo(model, arrival) {
  const chain = [];
  for (let at = arrival; at !== null; at = model.arrivals[at].previous)
    chain.push(model.arrivals[at]);
  return chain.reverse();
}
