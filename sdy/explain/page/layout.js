// Where things stand on the graph: rows in the order of data flow, as many columns as fit.
//
// Ops that do not wait for one another stand side by side, but none stands far above the op
// before it in the text: so a program is a tape that reads from top to bottom. An open group is a
// frame across the tape, between what comes before and after it.

const NODE_HEIGHT = 56;
const ROW_GAP = 44;
const COLUMN_GAP = 16;
const WIDEST_NODE = 236;
const NARROWEST_NODE = 150;
const FRAME_HEAD = 34;
const FRAME_GAP = 18;

// How many rows above the last one an op may stand.
const LOOK_BACK = 3;

/**
 * Returns {items, frames, itemOfOp, itemOfArgument, width, height}.
 *
 * An item is {node, x, y, width, height, inputs}, inputs being the values that come from outside
 * of it; a frame is the same for an open group. Both lists are in the order of y.
 */
function layOut(model, functions, width, indent) {
  const layout = {
    items: [],
    frames: [],
    itemOfOp: new Array(model.ops.length),
    itemOfArgument: new Map(),
    width,
    height: 0,
  };
  let y = FRAME_GAP;
  for (const node of functions) {
    if (node.isOpen) y = placeFrame(model, layout, node, indent, y, width - 2 * indent, indent);
    else {
      placeRow(model, layout, node, indent, y, width - 2 * indent);
      y += NODE_HEIGHT + FRAME_GAP;
    }
  }
  layout.height = y;
  layout.items.sort((a, b) => a.y - b.y || a.x - b.x);
  return layout;
}

/** Places a folded function, across the tape; nothing flows into it. */
function placeRow(model, layout, node, x, y, width) {
  const item = {
    node,
    x,
    y,
    width: Math.min(width, 2 * WIDEST_NODE),
    height: NODE_HEIGHT,
    inputs: [],
  };
  layout.items.push(item);
  claim(layout, node, item);
}

/** Places an open group; returns where it ends. */
function placeFrame(model, layout, node, x, y, width, indent) {
  const frame = {
    node,
    x,
    y,
    width,
    height: 0,
    inputs: node.kind === "region" ? model.ops[node.op].operands : [],
  };
  layout.frames.push(frame);
  if (node.op !== undefined) layout.itemOfOp[node.op] = frame;
  let end = y + FRAME_HEAD;
  let segment = newSegment(x + indent, width - 2 * indent);
  for (const child of node.children) {
    if (!child.isOpen) place(model, layout, segment, child);
    else {
      end = finish(layout, segment, end);
      end = placeFrame(
        model,
        layout,
        child,
        x + indent,
        end + FRAME_GAP / 2,
        width - 2 * indent,
        indent,
      );
      segment = newSegment(x + indent, width - 2 * indent);
    }
  }
  end = finish(layout, segment, end);
  frame.height = end - y;
  return end + FRAME_GAP;
}

/** A stretch of rows without an open group. */
function newSegment(x, width) {
  const columns = Math.max(
    1,
    Math.min(5, Math.floor((width + COLUMN_GAP) / (WIDEST_NODE + COLUMN_GAP))) || 1,
  );
  const isNarrow = columns === 1 && width >= 2 * NARROWEST_NODE + COLUMN_GAP;
  return { x, width, columns: isNarrow ? 2 : columns, rows: [], items: [] };
}

/** Gives a closed node the first row that may hold it and the column nearest to its operands. */
function place(model, layout, segment, node) {
  const item = {
    node,
    x: 0,
    y: 0,
    width: 0,
    height: NODE_HEIGHT,
    inputs: [],
    segment,
    row: 0,
    column: 0,
  };
  claim(layout, node, item);
  item.inputs = inputsOf(model, layout, node, item);
  const sources = item.inputs
    .map((value) => sourceOf(model, layout, value))
    .filter((source) => source && source.segment === segment);
  const lookBack = node.kind === "argument" ? 1 : LOOK_BACK;
  let row = Math.max(0, segment.rows.length - 1 - lookBack);
  for (const source of sources) row = Math.max(row, source.row + 1);
  while (segment.rows[row]?.size >= segment.columns) row += 1;
  while (segment.rows.length <= row) segment.rows.push(new Set());
  item.row = row;
  item.column = freeColumn(segment, row, sources);
  segment.rows[row].add(item.column);
  segment.items.push(item);
}

function freeColumn(segment, row, sources) {
  const wanted = sources.length
    ? sum(sources, (source) => source.column) / sources.length
    : (segment.columns - 1) / 2;
  let best = -1;
  for (let column = 0; column < segment.columns; column += 1) {
    const isNearer = best < 0 || Math.abs(column - wanted) < Math.abs(best - wanted);
    if (!segment.rows[row].has(column) && isNearer) best = column;
  }
  return best;
}

/** Gives the items of a segment their coordinates; returns where it ends. */
function finish(layout, segment, y) {
  if (!segment.items.length) return y;
  const { columns } = segment;
  const width = Math.min(WIDEST_NODE, (segment.width - (columns - 1) * COLUMN_GAP) / columns);
  const left = segment.x + (segment.width - columns * width - (columns - 1) * COLUMN_GAP) / 2;
  for (const item of segment.items) {
    item.x = left + item.column * (width + COLUMN_GAP);
    item.y = y + ROW_GAP / 2 + item.row * (NODE_HEIGHT + ROW_GAP);
    item.width = width;
    layout.items.push(item);
  }
  return y + segment.rows.length * (NODE_HEIGHT + ROW_GAP);
}

/** Notes that all ops and arguments of a node are shown by an item. */
function claim(layout, node, item) {
  if (node.op !== undefined) layout.itemOfOp[node.op] = item;
  if (node.kind === "argument") layout.itemOfArgument.set(node.value, item);
  for (const child of node.children ?? []) claim(layout, child, item);
}

/** Returns the item or frame that a value comes from; undefined for results of functions. */
function sourceOf(model, layout, value) {
  const { op } = model.values[value];
  return op === null ? layout.itemOfArgument.get(value) : layout.itemOfOp[op];
}

/** Returns the values that flow into a node from outside, each once. */
function inputsOf(model, layout, node, item) {
  if (node.kind === "argument") return [];
  const inputs = new Set();
  const visit = (inner) => {
    if (inner.op !== undefined) {
      for (const value of model.ops[inner.op].operands) {
        if (sourceOf(model, layout, value) !== item) inputs.add(value);
      }
    }
    for (const child of inner.children ?? []) visit(child);
  };
  visit(node);
  return [...inputs];
}

/** Returns the first position of a list sorted by y whose y is not less. */
function firstFrom(items, y) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle].y < y) low = middle + 1;
    else high = middle;
  }
  return low;
}
