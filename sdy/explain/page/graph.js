// The program as a graph. Only what is near the window exists as elements; edges are redrawn
// with it. The layout is in layout.js, the edges and badges are in edges.js.

const OVERSCAN = 620;

class ProgramGraph {
  /** app: see main.js. host: an empty element that this fills. */
  constructor(app, host) {
    this.app = app;
    this.outline = app.outline;
    this.current = null; // The id that has the keyboard.
    this.drawn = new Map();
    this.edges = svgElement("svg", { class: "edges", "aria-hidden": "true" });
    this.canvas = element("div", { class: "canvas" }, this.edges);
    this.scroller = element(
      "div",
      { class: "scroller", role: "group", "aria-label": "Program, as a graph" },
      this.canvas,
    );
    this.crumbs = element("nav", { class: "crumbs", "aria-label": "Where the window is" });
    this.minimap = new Minimap(this);
    host.append(
      graphBar(this),
      element("div", { class: "stage" }, this.scroller, this.minimap.canvas),
    );
    this.scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    this.scroller.addEventListener("keydown", (event) => graphKey(this, event));
    this.canvas.addEventListener("click", (event) => this.clicked(event));
    new ResizeObserver(() => this.resized()).observe(this.scroller);
    this.parents = new Map();
    walkOutline(this.outline, (node) => {
      if (node.kind === "argument") this.parents.set(`v${node.value}`, node);
      if (node.op !== undefined) this.parents.set(`o${node.op}`, node);
    });
  }

  resized() {
    const width = this.scroller.clientWidth;
    if (width && width !== this.layout?.width) this.layOut();
    else this.schedule();
  }

  /** Lays everything out again; what is at the top of the window stays there. */
  layOut(anchorId = this.topId()) {
    const before = this.layout && this.find(anchorId);
    const offset = before ? before.y - this.scroller.scrollTop : 0;
    const width = this.scroller.clientWidth;
    this.layout = layOut(this.app.model, this.outline, width, width < 600 ? 5 : 12);
    this.stops = [...this.layout.items, ...this.layout.frames].sort(
      (a, b) => a.y - b.y || a.x - b.x,
    );
    this.byId = new Map(this.stops.map((item) => [item.node.id, item]));
    this.canvas.style.height = `${this.layout.height}px`;
    for (const made of this.drawn.values()) made.remove();
    this.drawn.clear();
    let anchor = before?.node; // Or the closed group that it is in now.
    while (anchor && !this.find(anchor.id)) anchor = anchor.parent;
    if (anchor) this.scroller.scrollTop = this.find(anchor.id).y - offset;
    this.minimap.invalidate();
    this.render();
  }

  /** Draws again what has colours of its own. */
  repaint() {
    this.minimap.invalidate();
    this.render();
  }

  topId() {
    const { scrollTop } = this.scroller;
    return this.stops?.[firstFrom(this.stops, scrollTop)]?.node.id;
  }

  /** Returns the item or frame of an id; undefined where it is in a closed group. */
  find(id) {
    return this.byId.get(id);
  }

  schedule() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => {
      this.isScheduled = false;
      this.render();
    });
  }

  render() {
    if (!this.layout || !this.scroller.clientHeight) return;
    const top = this.scroller.scrollTop - OVERSCAN;
    const bottom = this.scroller.scrollTop + this.scroller.clientHeight + OVERSCAN;
    const { items, frames } = this.layout;
    const shown = items.slice(firstFrom(items, top), firstFrom(items, bottom));
    const shownFrames = frames.filter((frame) => frame.y < bottom && frame.y + frame.height > top);
    const wanted = new Set([...shown, ...shownFrames].map((item) => item.node.id));
    for (const [id, made] of this.drawn) {
      if (!wanted.has(id) && !made.contains(document.activeElement)) {
        made.remove();
        this.drawn.delete(id);
      }
    }
    for (const frame of shownFrames) this.draw(frame, frameElement);
    for (const item of shown) this.draw(item, itemElement);
    this.mark();
    drawEdges(this, [...shown, ...shownFrames.filter((frame) => frame.inputs.length)], top, bottom);
    this.renderCrumbs(frames);
    this.minimap.draw();
  }

  draw(item, make) {
    const { id } = item.node;
    if (this.drawn.has(id)) return;
    const made = make(this.app, item);
    made.dataset.id = id;
    made.style.transform = `translate(${Math.round(item.x)}px, ${Math.round(item.y)}px)`;
    made.style.width = `${Math.round(item.width)}px`;
    made.style.height = `${Math.round(item.height)}px`;
    this.drawn.set(id, made);
    this.canvas.append(made);
  }

  /** Shows what is selected, what is on its chain, and what has the keyboard. */
  mark() {
    const selected = this.selectedId();
    const onChain = this.app.chainIds;
    const current = this.find(this.current) ? this.current : this.stops[0]?.node.id;
    for (const [id, made] of this.drawn) {
      const button = made.matches("button") ? made : made.querySelector("button");
      made.classList.toggle("selected", id === selected);
      made.classList.toggle("on-chain", onChain.has(id));
      button.tabIndex = id === current ? 0 : -1;
      if (button.classList.contains("node")) button.setAttribute("aria-pressed", id === selected);
    }
  }

  selectedId() {
    return idOfSelection(this.app.selection);
  }

  clicked(event) {
    const made = event.target.closest("[data-id]");
    const button = event.target.closest("button");
    if (!made || !button) return;
    this.activate(this.find(made.dataset.id), button.dataset.does);
  }

  /** Does what a click on a thing does: folds a group, selects an op. */
  activate(item, does = "") {
    if (!item) return;
    const { node } = item;
    this.current = node.id;
    if (does === "select" || !node.children) this.app.select(selectionOf(this.app.model, node));
    else this.toggle(node);
  }

  toggle(node, isOpen = !node.isOpen) {
    node.isOpen = isOpen;
    this.current = node.id;
    const hadFocus = this.scroller.contains(document.activeElement);
    this.layOut(node.id);
    if (hadFocus) this.focus(node.id);
    this.app.say(`${node.title} ${node.isOpen ? "open" : "closed"}`);
  }

  toggleAll(isOpen) {
    for (const node of this.outline) setOpen(node, isOpen);
    if (!isOpen && this.outline[0]) this.outline[0].isOpen = true;
    this.layOut();
  }

  /** Opens the groups around what is selected and scrolls to it. */
  reveal() {
    const leaf = this.parents.get(this.selectedId());
    if (!leaf || !this.layout) return;
    let isChanged = false;
    for (let node = leaf.parent; node; node = node.parent) {
      isChanged ||= !node.isOpen;
      node.isOpen = true;
    }
    if (isChanged) this.layOut();
    this.scrollTo(leaf.id);
  }

  /** Scrolls to a thing, if it is not shown: to the middle or to the "top" of the window. */
  scrollTo(id, where = "middle") {
    const item = this.find(id);
    if (!item) return;
    this.current = id;
    const { scrollTop } = this.scroller;
    const visible = this.visibleHeight();
    const height = Math.min(item.height, NODE_HEIGHT);
    const isShown = item.y > scrollTop + 12 && item.y + height < scrollTop + visible - 12;
    if (where === "top") this.scroller.scrollTop = item.y - FRAME_GAP;
    else if (!isShown) this.scroller.scrollTop = item.y - (visible - height) / 2;
    this.render();
  }

  /** Returns how much of the window the panel leaves free: at phone width it lies over it. */
  visibleHeight() {
    const { top, bottom } = this.scroller.getBoundingClientRect();
    const panel = this.app.panel.getBoundingClientRect();
    return panel.height && panel.left <= 0 ? Math.max(NODE_HEIGHT, panel.top - top) : bottom - top;
  }

  focus(id) {
    this.scrollTo(id);
    const made = this.drawn.get(id);
    (made?.matches("button") ? made : made?.querySelector("button"))?.focus({
      preventScroll: true,
    });
  }

  renderCrumbs(frames) {
    const y = this.scroller.scrollTop + FRAME_HEAD;
    const around = frames.filter((frame) => frame.y < y && frame.y + frame.height > y);
    const key = around.map((frame) => frame.node.id).join();
    if (key === this.crumbsKey) return;
    this.crumbsKey = key;
    const parts = around.map(({ node }) =>
      link(node.title, () => this.scrollTo(node.id, "top"), { title: node.detail }),
    );
    this.crumbs.replaceChildren(...parts.flatMap((part, index) => (index ? ["›", part] : [part])));
  }
}

/** Returns the bar above the graph. */
function graphBar(graph) {
  const places = element(
    "select",
    { "aria-label": "Go to a function or a loop" },
    element("option", { text: "Go to…", value: "" }),
  );
  walkOutline(graph.outline, (node) => {
    if (node.kind !== "function" && node.kind !== "region") return;
    let depth = 0;
    for (let above = node.parent; above; above = above.parent)
      depth += above.kind === "region" || above.kind === "function" ? 1 : 0;
    const text = `${"\u00a0\u00a0".repeat(depth)}${node.title} · ${counted(node.ops, "op")}`;
    places.append(element("option", { value: node.id, text }));
  });
  places.addEventListener("change", () => {
    goTo(graph, places.value);
    places.value = "";
  });
  return element(
    "div",
    { class: "bar" },
    graph.crumbs,
    element(
      "div",
      { class: "tools" },
      places,
      element(
        "button",
        {
          type: "button",
          class: "quiet",
          id: "open-all",
          on: { click: () => graph.toggleAll(true) },
        },
        "Open all",
      ),
      element(
        "button",
        {
          type: "button",
          class: "quiet",
          id: "close-all",
          on: { click: () => graph.toggleAll(false) },
        },
        "Close all",
      ),
    ),
  );
}

/** Opens a function or a region and scrolls to its head. */
function goTo(graph, id) {
  walkOutline(graph.outline, (node) => {
    if (node.id !== id || !node.children) return;
    for (let open = node; open; open = open.parent) open.isOpen = true;
  });
  graph.layOut();
  graph.scrollTo(id, "top");
}

/** Moves by the arrow keys: to the nearest thing above, below or beside. */
function graphKey(graph, event) {
  const steps = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  const step = steps[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const next = neighbour(graph, graph.find(graph.current) ?? graph.stops[0], ...step);
  if (!next) return;
  const { node } = next;
  graph.current = node.id;
  if (!node.children) graph.app.select(selectionOf(graph.app.model, node), { isQuiet: true });
  graph.focus(node.id);
}

function neighbour(graph, from, dx, dy) {
  const { stops } = graph;
  if (dx) {
    return stops
      .filter((stop) => stop.y === from.y && (stop.x - from.x) * dx > 0)
      .sort((a, b) => (a.x - b.x) * dx)[0];
  }
  let index = stops.indexOf(from);
  while (stops[index] && stops[index].y === from.y) index += dy;
  if (!stops[index]) return null;
  const row = [];
  for (let at = index; stops[at] && stops[at].y === stops[index].y; at += dy) row.push(stops[at]);
  const middle = from.x + from.width / 2;
  return row.sort(
    (a, b) => Math.abs(a.x + a.width / 2 - middle) - Math.abs(b.x + b.width / 2 - middle),
  )[0];
}
