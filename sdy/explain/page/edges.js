// The edges of the graph: a strand in its colour for each axis that splits the value, one grey
// strand where none does, and dashes over them where the value is moved between devices.

const STRAND_GAP = 3.5;
const LONGEST_EDGE = 560;
const MOST_EDGES = 10;
const STUB = 15;

/** Draws the edges into the things given; those between y = top and bottom matter. */
function drawEdges(graph, targets, top, bottom) {
  const { model, selection } = graph.app;
  const made = [];
  const obstacles = targets.filter((target) => !target.node.isOpen);
  for (const target of targets) {
    const moved = movedInto(model, target.node);
    const inputs = shownInputs(graph, target);
    inputs.forEach(({ value, source, isNear }, index) => {
      const x = target.x + (target.width * (index + 1)) / (inputs.length + 1);
      const from = isNear ? outlet(model, source, value) : { x, y: target.y - STUB };
      if (from.y > bottom || target.y < top) return;
      const path = { from, to: { x, y: target.y }, isStub: !isNear, gutter: null };
      if (isNear && isBlocked(path, obstacles, source, target))
        path.gutter = gutterOf(path, target, value);
      const isLit = selection?.value === value || graph.selectedId() === target.node.id;
      made.push(...strands(model, value, path, isLit));
      if (moved.has(value)) made.push(svgElement("path", { class: "moved", d: pathText(path, 0) }));
    });
  }
  graph.edges.setAttribute("width", graph.layout.width);
  graph.edges.setAttribute("height", graph.scroller.clientHeight + 2 * OVERSCAN);
  graph.edges.style.transform = `translateY(${top}px)`;
  graph.edges.setAttribute(
    "viewBox",
    `0 ${top} ${graph.layout.width} ${graph.scroller.clientHeight + 2 * OVERSCAN}`,
  );
  graph.edges.replaceChildren(...made);
}

/** Returns the inputs of a thing that are drawn, the near ones first where there are too many. */
function shownInputs(graph, target) {
  const { model } = graph.app;
  const inputs = [...new Set(target.inputs)].map((value) => {
    const source = sourceOf(model, graph.layout, value);
    const isOutside = source && source !== target && !contains(source, target);
    const distance = isOutside ? target.y - (source.y + source.height) : Infinity;
    return { value, source, isNear: distance >= 0 && distance < LONGEST_EDGE };
  });
  if (inputs.length <= MOST_EDGES) return inputs;
  return [
    ...inputs.filter((input) => input.isNear),
    ...inputs.filter((input) => !input.isNear),
  ].slice(0, MOST_EDGES);
}

/** Returns whether a frame is around a thing. */
function contains(frame, item) {
  return (
    frame.y <= item.y &&
    frame.y + frame.height >= item.y + item.height &&
    frame.node.children !== undefined
  );
}

/** Returns where a value leaves what gives it. */
function outlet(model, source, value) {
  const op = source.node.op === undefined ? null : model.ops[source.node.op];
  const index = op ? Math.max(0, op.results.indexOf(value)) : 0;
  const count = op ? Math.max(1, op.results.length) : 1;
  return { x: source.x + (source.width * (index + 1)) / (count + 1), y: source.y + source.height };
}

function strands(model, value, path, isLit) {
  const axes = splittingAxes(model, value);
  const look = `${isLit ? " lit" : ""}${path.isStub ? " stub" : ""}`;
  if (!axes.length)
    return [svgElement("path", { class: `strand whole${look}`, d: pathText(path, 0) })];
  return axes.map((axis, index) => {
    const offset = (index - (axes.length - 1) / 2) * STRAND_GAP;
    return svgElement("path", {
      class: `strand ${axisClass(model, axis)}${look}`,
      d: pathText(path, offset),
    });
  });
}

/** Returns the path of a strand, beside the middle of its edge. */
function pathText({ from, to, gutter }, offset) {
  const start = { x: from.x + offset, y: from.y };
  const end = { x: to.x + offset, y: to.y };
  if (gutter === null) return `M${start.x},${start.y} ${curveTo(start, end)}`;
  const high = { x: gutter + offset, y: from.y + ROW_GAP };
  const low = { x: gutter + offset, y: to.y - ROW_GAP };
  return `M${start.x},${start.y} ${curveTo(start, high)} L${low.x},${low.y} ${curveTo(low, end)}`;
}

function curveTo(from, to) {
  const bend = Math.max(8, (to.y - from.y) * 0.45);
  return `C${from.x},${from.y + bend} ${to.x},${to.y - bend} ${to.x},${to.y}`;
}

/** Returns whether a plain curve would go behind something that it has nothing to do with. */
function isBlocked({ from, to }, obstacles, source, target) {
  const height = to.y - from.y;
  if (height < 2 * ROW_GAP) return false;
  const bend = height * 0.45;
  const points = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((tenth) => {
    const t = tenth / 10;
    const near = 3 * (1 - t) * t;
    return {
      x: from.x + (to.x - from.x) * (3 * t * t - 2 * t * t * t),
      y:
        (1 - t) ** 3 * from.y +
        near * (1 - t) * (from.y + bend) +
        near * t * (to.y - bend) +
        t ** 3 * to.y,
    };
  });
  return obstacles.some(
    (box) =>
      box !== source &&
      box !== target &&
      box.y < to.y &&
      points.some(
        ({ x, y }) => x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height,
      ),
  );
}

/** Returns the way down between the columns: beside the target, on the side of the source. */
function gutterOf({ from, to }, target, value) {
  const spread = ((value % 5) - 2) * 2.5; // So that neighbours are not one line.
  const isLeft = from.x < to.x || target.x + target.width / 2 > from.x;
  return (isLeft ? target.x - COLUMN_GAP / 2 : target.x + target.width + COLUMN_GAP / 2) + spread;
}

/** Returns the values that are moved between devices on their way into a node. */
function movedInto(model, node) {
  const points = node.children ? node.points : pointsOf(model, node.op);
  return new Set(
    points.filter((point) => point.reason !== "reduction").map((point) => point.value),
  );
}
