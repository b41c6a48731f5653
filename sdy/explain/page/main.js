// Puts the page together: what is selected, which view is shown, keys that work everywhere.

const VIEWS = [
  { id: "program", title: "Program" },
  { id: "communication", title: "Communication", make: communicationView },
  { id: "memory", title: "Memory", make: memoryView },
  { id: "advice", title: "Advice", make: adviceView },
];

const KEYS = [
  ["/", "search"],
  ["1 – 4", "program, communication, memory, advice"],
  ["↑ ↓ ← →", "go through the graph"],
  ["Enter", "open or close a group; why, of an op"],
  ["n  p", "next and previous op that talks"],
  ["g", "show in the graph what is selected"],
  ["Esc", "close what is open, select nothing"],
  ["?", "this help"],
];

class App {
  constructor(data) {
    this.model = readModel(data);
    this.outline = buildOutline(this.model);
    this.selection = null;
    this.chainIds = new Set();
    this.panel = document.getElementById("details");
    this.views = new Map();
    this.makeTheme();
    this.makeHeader();
    this.makeViews();
    this.graph = new ProgramGraph(this, this.views.get("program"));
    this.show("program");
    this.search = new SearchBox(
      this,
      document.getElementById("search"),
      document.getElementById("hits"),
    );
    document.addEventListener("keydown", (event) => appKey(this, event));
    addEventListener("hashchange", () => this.readAddress());
    this.readAddress();
    this.refresh();
  }

  makeHeader() {
    const { model } = this;
    const meshes = model.meshes.map(
      (mesh) =>
        `@${mesh.name} ${mesh.axes.map((axis) => `${axis.name} ${axis.size}`).join(" × ") || counted(mesh.devices, "device")}`,
    );
    const sent = sum(model.communication, (point) => point.bytes);
    const parts = [
      counted(model.ops.length, "op"),
      counted(model.values.length, "value"),
      ...meshes,
      sent ? `${bytesText(sent)} sent by a device` : null,
    ];
    document.getElementById("summary").textContent = parts.filter(Boolean).join(" · ");
    document.getElementById("keys").addEventListener("click", () => showHelp(this.model));
  }

  /** Follows the system's theme until a theme is pressed. */
  makeTheme() {
    const button = document.getElementById("theme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const root = document.documentElement;
    const set = (theme) => {
      root.dataset.theme = theme;
      button.textContent = theme === "dark" ? "Light" : "Dark";
      this.graph?.repaint();
    };
    const follow = () => set(system.matches ? "dark" : "light");
    system.addEventListener("change", follow);
    button.addEventListener("click", () => {
      system.removeEventListener("change", follow);
      set(root.dataset.theme === "dark" ? "light" : "dark");
    });
    follow();
  }

  makeViews() {
    const tabs = document.querySelector(".tabs");
    const main = document.getElementById("main");
    main.replaceChildren();
    for (const view of VIEWS) {
      const count =
        view.id === "advice"
          ? this.model.suggestions.length +
            this.model.communication.filter((point) => point.rematerializes).length
          : 0;
      const tab = element(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${view.id}`,
          "aria-controls": view.id,
          on: { click: () => this.show(view.id) },
        },
        view.title,
        count ? element("span", { class: "pill", text: COUNT.format(count) }) : null,
      );
      tabs.append(tab);
      const panel = element("div", {
        id: view.id,
        class: `panel ${view.id}`,
        role: "tabpanel",
        "aria-labelledby": `tab-${view.id}`,
        properties: { hidden: true },
      });
      main.append(panel);
      this.views.set(view.id, panel);
    }
    tabs.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: VIEWS.length - 1 }[event.key];
      if (!step) return;
      const { id } =
        VIEWS[(VIEWS.findIndex((view) => view.id === this.shown) + step) % VIEWS.length];
      this.show(id);
      document.getElementById(`tab-${id}`).focus();
    });
  }

  /** Shows a view; it is made when it is first shown. */
  show(id) {
    this.shown = id;
    document.body.classList.remove("has-sheet"); // A new view is not to be covered.
    for (const view of VIEWS) {
      const panel = this.views.get(view.id);
      const isShown = view.id === id;
      panel.hidden = !isShown;
      const tab = document.getElementById(`tab-${view.id}`);
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      if (isShown && view.make && !panel.childNodes.length)
        panel.append(...view.make(this).flat(Infinity).filter(Boolean));
    }
    if (id === "program") this.graph?.resized();
  }

  /** Selects {op, value}, {value} or {function}; null for nothing. */
  select(selection, { isQuiet = false } = {}) {
    this.selection = selection;
    this.chainIds = idsOnChains(this.model, selection?.value);
    this.refresh();
    if (!isQuiet) this.graph.scrollTo(idOfSelection(selection));
    const address = addressOf(this.model, selection);
    if (address !== location.hash)
      history.replaceState(null, "", address || location.pathname + location.search);
    if (selection && !isQuiet) this.say(`Why ${this.panel.querySelector("h2")?.textContent ?? ""}`);
  }

  refresh() {
    showDetails(this, this.panel);
    document.body.classList.toggle("has-sheet", this.selection !== null);
    this.graph.repaint();
  }

  showInGraph() {
    this.show("program");
    document.body.classList.toggle("has-sheet", this.selection !== null);
    this.graph.reveal();
  }

  goToFunction(number) {
    this.show("program");
    goTo(this.graph, this.outline[number].id);
  }

  /** Selects the value that the address names, as it is or encoded. */
  readAddress() {
    const name = location.hash.slice(1);
    if (!name) return;
    const { values } = this.model;
    const encoded = (value) => encodeURIComponent(value.spelling) === name;
    let number = values.findIndex((value) => value.spelling === name);
    if (number < 0) number = values.findIndex(encoded);
    if (number < 0 || number === this.selection?.value) return;
    this.select(selectionOfValue(this.model, number));
    this.showInGraph();
  }

  /** Tells those who hear the page what has changed. */
  say(text) {
    document.getElementById("status").textContent = text;
  }

  /** Selects the next op that talks, or the one before. */
  goToTalk(step) {
    const ops = [...this.model.communicationOfOp.keys()].sort((a, b) => a - b);
    if (!ops.length) return;
    const at = this.selection?.op ?? (step > 0 ? -1 : Infinity);
    const next =
      step > 0
        ? (ops.find((op) => op > at) ?? ops[0])
        : (ops.findLast((op) => op < at) ?? ops[ops.length - 1]);
    this.select({ op: next, value: this.model.ops[next].results[0] });
    this.showInGraph();
  }
}

/** Returns the address of what is selected: `#%42`, or encoded where an address needs that. */
function addressOf(model, selection) {
  if (selection?.value === undefined) return "";
  const { spelling } = model.values[selection.value];
  return `#${/^[%@:\w]+$/.test(spelling) ? spelling : encodeURIComponent(spelling)}`;
}

function appKey(app, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea")) return;
  if (document.querySelector("dialog[open]")) return;
  const view = VIEWS[Number(event.key) - 1];
  const actions = {
    "/": () => document.getElementById("search").focus(),
    "?": () => showHelp(app.model),
    n: () => app.goToTalk(1),
    p: () => app.goToTalk(-1),
    g: () => app.showInGraph(),
    Escape: () => app.select(null),
  };
  const action = view ? () => app.show(view.id) : actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function showHelp(model) {
  const dialog = document.getElementById("help");
  dialog.replaceChildren(
    element("h2", { id: "help-title", text: "Help" }),
    legend(model),
    element("h3", { text: "Keys" }),
    element(
      "dl",
      {},
      KEYS.map(([key, does]) =>
        element(
          "div",
          {},
          element("dt", {}, element("kbd", { text: key })),
          element("dd", { text: does }),
        ),
      ),
    ),
    element(
      "button",
      { type: "button", class: "quiet", on: { click: () => dialog.close() } },
      "Close",
    ),
  );
  dialog.showModal();
}

new App(JSON.parse(document.getElementById("document").textContent));
requestAnimationFrame(() => {
  performance.mark("ready"); // What loading is measured by.
  document.documentElement.dataset.ready = "true";
});
