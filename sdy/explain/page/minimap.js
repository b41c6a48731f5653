// The whole graph, small: nodes in the colours of their axes, communication at the right edge.

const MINIMAP_WIDTH = 64;
const COMMUNICATION_WIDTH = 8;

class Minimap {
  constructor(graph) {
    this.graph = graph;
    this.canvas = element("canvas", { class: "minimap", "aria-hidden": "true" });
    this.picture = null; // Everything but the window, drawn once for a layout.
    const move = (event) => {
      if (!event.buttons) return;
      const { top, height } = this.canvas.getBoundingClientRect();
      const { scroller, layout } = graph;
      scroller.scrollTop =
        ((event.clientY - top) / height) * layout.height - scroller.clientHeight / 2;
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      move(event);
    });
    this.canvas.addEventListener("pointermove", move);
  }

  /** Forgets the picture: the layout, the colours or what is marked have changed. */
  invalidate() {
    this.picture = null;
  }

  draw() {
    const height = this.canvas.clientHeight;
    if (!height) return; // Not shown on narrow windows.
    const scale = window.devicePixelRatio || 1;
    if (!this.picture || this.picture.height !== Math.round(height * scale))
      this.picture = this.paint(height, scale);
    this.canvas.width = this.picture.width;
    this.canvas.height = this.picture.height;
    const context = this.canvas.getContext("2d");
    context.drawImage(this.picture, 0, 0);
    context.scale(scale, scale);
    const { scroller, layout } = this.graph;
    const ratio = height / layout.height;
    const colours = getComputedStyle(this.canvas);
    context.fillStyle = colours.getPropertyValue("--window");
    context.fillRect(
      0,
      scroller.scrollTop * ratio,
      MINIMAP_WIDTH,
      Math.max(3, scroller.clientHeight * ratio),
    );
    const selected = this.graph.find(this.graph.selectedId());
    if (selected) {
      context.fillStyle = colours.getPropertyValue("--accent");
      context.fillRect(0, selected.y * ratio - 1, MINIMAP_WIDTH, 3);
    }
  }

  paint(height, scale) {
    const picture = document.createElement("canvas");
    picture.width = Math.round(MINIMAP_WIDTH * scale);
    picture.height = Math.round(height * scale);
    const context = picture.getContext("2d");
    context.scale(scale, scale);
    const { layout, app } = this.graph;
    const colours = getComputedStyle(this.canvas);
    const colourOf = (name) => colours.getPropertyValue(name).trim();
    const axisColours = Array.from({ length: AXIS_COLOURS }, (_, number) =>
      colourOf(`--axis-${number}`),
    );
    const ratio = height / layout.height;
    const across = (MINIMAP_WIDTH - COMMUNICATION_WIDTH) / layout.width;
    for (const { node, x, y, width, height: tall } of layout.items) {
      const value = node.kind === "argument" ? node.value : app.model.ops[node.op]?.results[0];
      const [axis] = value === undefined ? [] : splittingAxes(app.model, value);
      const number =
        axis === undefined ? undefined : app.model.axes.get(parseAxis(axis).name)?.number;
      context.fillStyle =
        number === undefined ? colourOf("--whole") : axisColours[number % AXIS_COLOURS];
      context.fillRect(x * across, y * ratio, width * across, Math.max(1, tall * ratio));
      const points = node.children ? node.points : pointsOf(app.model, node.op);
      if (!points.length) continue;
      context.fillStyle = colourOf("--communication");
      context.fillRect(
        MINIMAP_WIDTH - COMMUNICATION_WIDTH,
        y * ratio,
        COMMUNICATION_WIDTH,
        Math.max(1.5, tall * ratio),
      );
    }
    context.fillStyle = colourOf("--accent");
    for (const id of app.chainIds) {
      const item = this.graph.find(id);
      if (item) context.fillRect(0, item.y * ratio, 4, Math.max(2, item.height * ratio));
    }
    return picture;
  }
}
