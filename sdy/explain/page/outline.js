// The program as a tree: functions, loops and other regions, and runs of ops of one source scope.
//
// Source scopes are what JAX writes into locations: the parts of an op's path (`jit(f)/layer/dot`)
// and the frames of its call. Ops that follow one another and share a scope are one group; a
// group that does the same over and over, as an unrolled loop does, is cut into its turns. Every
// group is a range of the program's text, so folding some of them never makes a cycle.

const FEWEST_IN_SCOPE = 3;
const FEWEST_IN_TURNS = 16;
const FEWEST_TURNS = 3;

// How many things are shown when the page opens, about.
const SHOWN_AT_FIRST = 110;

/**
 * Returns the functions as nodes.
 *
 * A node is {kind, id, children, parent, ...}. kind is "function", "region" (an op that has
 * regions), "block" (one of several), "scope", "turn", or a leaf, "op" or "argument". Nodes that can be folded
 * have `title`, `detail`, `isOpen`, `ops` (how many), `points` (communication inside).
 */
function buildOutline(model) {
  const paths = model.places.map(scopePath);
  const builder = { model, paths, number: 0 };
  const functions = model.functions.map((made, number) => functionNode(builder, made, number));
  for (const node of functions) summarize(model, node);
  openAtFirst(functions);
  return functions;
}

function folder(builder, kind, title, detail, children, more = {}) {
  builder.number += 1;
  const node = {
    kind,
    id: `g${builder.number}`,
    title,
    detail,
    children,
    isOpen: false,
    parent: null,
    ...more,
  };
  for (const child of children) child.parent = node;
  return node;
}

function functionNode(builder, made, number) {
  const { model } = builder;
  const firstUses = new Map();
  const unused = [];
  for (const value of made.arguments) {
    const [user] = model.users[value];
    if (user === undefined) unused.push(argumentLeaf(value));
    else listed(firstUses, user).push(value);
  }
  const children = [...unused, ...blockChildren(builder, made.ops)];
  const detail = number === 0 || model.functions.length === 1 ? "" : "function";
  const node = folder(builder, "function", `@${made.name}`, detail, children, { function: number });
  placeArguments(node, firstUses);
  return node;
}

function argumentLeaf(value) {
  return { kind: "argument", id: `v${value}`, value, parent: null };
}

/** Puts the arguments of a function before the ops that use them first. */
function placeArguments(node, firstUses) {
  const children = [];
  for (const child of node.children) {
    for (const value of (child.op === undefined ? null : firstUses.get(child.op)) ?? []) {
      children.push(Object.assign(argumentLeaf(value), { parent: node }));
    }
    if (child.children) placeArguments(child, firstUses);
    children.push(child);
  }
  node.children = children;
}

/** Returns the nodes of the ops of a block or of several that follow one another. */
function blockChildren(builder, ops) {
  let path = [];
  const leaves = ops.toReversed().map((op) => {
    const { operands, place } = builder.model.ops[op];
    // A constant is often placed at the function; it belongs to the op after it.
    if (builder.paths[place].length && (operands.length || !path.length))
      path = builder.paths[place];
    return { path, node: opNode(builder, op) };
  });
  leaves.reverse();
  return foldTurns(builder, foldScopes(builder, leaves, 0));
}

function opNode(builder, number) {
  const { model } = builder;
  const inside = model.inside.get(number);
  if (!inside) return { kind: "op", id: `o${number}`, op: number, parent: null };
  const op = model.ops[number];
  const detail = placeText(model, op.place);
  return folder(builder, "region", shortName(op), detail, regionChildren(builder, op, inside), {
    op: number,
  });
}

/** Returns what is in the regions of an op: a group for each region where there are several. */
function regionChildren(builder, op, inside) {
  const regions = [[]];
  for (const number of inside) {
    regions[regions.length - 1].push(number);
    if (builder.model.ops[number].name.endsWith(".return")) regions.push([]); // It ends a region.
  }
  const blocks = regions.filter((ops) => ops.length);
  if (blocks.length === 1) return blockChildren(builder, blocks[0]);
  const names = op.name === "stablehlo.while" ? ["condition", "body"] : [];
  return blocks.map((ops, index) =>
    folder(builder, "block", names[index] ?? `branch ${index}`, "", blockChildren(builder, ops)),
  );
}

/** Returns the scopes of a place, the outermost first. */
function scopePath(place) {
  const parts = place.label.split("/").slice(0, -1);
  const scopes = parts.map(scopeName).filter((name) => name !== null);
  const frames = place.frames.map((frame) => ({
    key: `${frame.file}:${frame.line}:${frame.function}`,
    title:
      frame.function
        .split(".")
        .filter((part) => part !== "<locals>")
        .pop() || fileName(frame.file),
    detail: frameText(frame),
  }));
  return [
    ...scopes.map((name) => ({ key: `/${name}`, title: name, detail: "" })),
    ...frames.reverse(),
  ];
}

/** Returns the name of a scope without JAX's transformations: `layer` of `transpose(jvp(layer))`. */
function scopeName(part) {
  if (/^p?jit\(/.test(part)) return null; // Every op has it, or it is a function of JAX's own.
  const inner = part.replace(/^(?:\w+\()+/, "").replace(/\)+$/, "");
  return /^[A-Za-z_][\w.[\]-]*$/.test(inner) ? inner : null; // Others are of einsum: `ij,jk->ik`.
}

/** Folds runs of leaves that share the scope at a depth of their paths. */
function foldScopes(builder, leaves, depth) {
  const nodes = [];
  for (let start = 0; start < leaves.length;) {
    const scope = leaves[start].path[depth];
    let end = start + 1;
    while (end < leaves.length && leaves[end].path[depth]?.key === scope?.key) end += 1;
    const run = leaves.slice(start, end);
    if (scope && run.length === leaves.length) return foldScopes(builder, leaves, depth + 1);
    if (!scope || run.length < FEWEST_IN_SCOPE) nodes.push(...run.map(({ node }) => node));
    else
      nodes.push(
        scopeNode(builder, scope, foldTurns(builder, foldScopes(builder, run, depth + 1))),
      );
    start = end;
  }
  return nodes;
}

/** Returns a scope; of a scope that holds nothing but another one, the inner one. */
function scopeNode(builder, scope, children) {
  const isOne = children.length === 1 && children[0].kind === "scope";
  if (!isOne)
    return folder(builder, "scope", scope.title, scope.detail, children, { key: scope.key });
  const [inner] = children;
  return Object.assign(inner, {
    title: `${scope.title} › ${inner.title}`,
    key: `${scope.key} ${inner.key}`,
  });
}

/** Cuts a list that repeats itself into turns; others are left as they are. */
function foldTurns(builder, children) {
  if (children.length < FEWEST_IN_TURNS) return children;
  const keys = children.map((child) => nodeKey(builder, child));
  const found = bestPeriod(keys);
  if (!found) return children;
  const { starts } = found;
  const last = starts[starts.length - 1] + found.length;
  const turns = starts.map((start, turn) => {
    const end = turn + 1 < starts.length ? starts[turn + 1] : last;
    const title = `turn ${turn + 1} of ${starts.length}`;
    return folder(builder, "turn", title, "", children.slice(start, end));
  });
  const before = children.slice(0, starts[0]);
  const after = children.slice(last);
  if (!before.length && !after.length) return turns;
  const { title = "", detail = "" } = children[starts[0]];
  const all = folder(
    builder,
    "scope",
    `${starts.length} turns`,
    `${title} ${detail}`.trim(),
    turns,
  );
  return [...before, all, ...after];
}

function nodeKey(builder, node) {
  if (node.kind === "op")
    return `${builder.model.ops[node.op].name} ${builder.model.ops[node.op].place}`;
  return node.key ?? `${node.title} ${node.detail}`;
}

/** Returns the starts of the turns of a list of keys and the length of the last; null for none. */
function bestPeriod(keys) {
  const positions = new Map();
  keys.forEach((key, position) => listed(positions, key).push(position));
  let best = null;
  for (const starts of positions.values()) {
    if (starts.length < FEWEST_TURNS) continue;
    const lengths = new Map();
    for (let turn = 0; turn + 1 < starts.length; turn += 1) {
      const length = starts[turn + 1] - starts[turn];
      lengths.set(length, (lengths.get(length) ?? 0) + 1);
    }
    const [length, count] = [...lengths].sort((a, b) => b[1] - a[1])[0];
    const covered = length * count;
    const isRegular =
      length > 1 && count >= 0.7 * (starts.length - 1) && covered >= 0.5 * keys.length;
    if (isRegular && (!best || covered > best.covered)) best = { starts, covered, length };
  }
  if (!best) return null;
  const last = best.starts[best.starts.length - 1];
  return { starts: best.starts, length: Math.min(best.length, keys.length - last) };
}

/** Notes in each node how many ops and which points of communication are inside. */
function summarize(model, node) {
  node.ops = node.op === undefined ? 0 : 1;
  node.points = node.op === undefined ? [] : [...pointsOf(model, node.op)];
  for (const child of node.children ?? []) {
    summarize(model, child);
    node.ops += child.ops;
    node.points.push(...child.points);
  }
}

/** Opens groups, the outer ones first, until enough is shown. */
function openAtFirst(functions) {
  let shown = functions.length;
  let level = functions.slice(0, 1);
  while (level.length) {
    const next = [];
    for (const node of level) {
      if (shown + node.children.length > SHOWN_AT_FIRST && node.kind !== "function") continue;
      node.isOpen = true;
      shown += node.children.length;
      next.push(...node.children.filter((child) => child.children));
    }
    level = next;
  }
}

/** Opens or closes a node and all that is in it. */
function setOpen(node, isOpen) {
  if (!node.children) return;
  node.isOpen = isOpen;
  for (const child of node.children) setOpen(child, isOpen);
}

/** Calls a function with each node of the tree. */
function walkOutline(nodes, visit) {
  for (const node of nodes) {
    visit(node);
    if (node.children) walkOutline(node.children, visit);
  }
}
