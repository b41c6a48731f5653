// Search by value, op, source line, axis and kind of collective.

const MOST_HITS = 100;

// What a word may be limited to, as in `axis:data`.
const FIELDS = { value: "values", op: "op", line: "source", axis: "axes", kind: "kinds" };
const WEIGHTS = { values: 5, op: 3, source: 2, kinds: 2, axes: 1 };

/** Returns what can be found: a row for each op, and one for each argument and result. */
function searchRows(model) {
  const sources = model.places.map((place) =>
    [place.label, ...place.frames.map((frame) => `${frame.file}:${frame.line} ${frame.function}`)]
      .join("\n")
      .toLowerCase(),
  );
  const axesOf = (values) =>
    [...new Set(values.flatMap((value) => splittingAxes(model, value)))].join("\n").toLowerCase();
  const namesOf = (values) =>
    values
      .flatMap((value) => [model.values[value].spelling, model.values[value].label])
      .filter(Boolean)
      .join("\n")
      .toLowerCase();
  const rows = [];
  for (const made of model.functions) {
    for (const value of [...made.arguments, ...made.results]) {
      rows.push({
        selection: { value },
        fields: {
          values: namesOf([value]),
          op: "",
          source: sources[model.values[value].place],
          axes: axesOf([value]),
          kinds: "",
        },
      });
    }
  }
  model.ops.forEach((op, number) => {
    const given = [...op.results, ...op.arguments];
    const kinds = pointsOf(model, number).flatMap((point) =>
      point.collectives.map(({ kind }) => kind),
    );
    rows.push({
      selection: { op: number, value: op.results[0] },
      fields: {
        values: namesOf(given),
        op: `${op.name} ${op.target}`.toLowerCase(),
        source: sources[op.place],
        axes: axesOf(given),
        kinds: kinds.join("\n"),
      },
    });
  });
  return rows;
}

/** Returns the rows that have all the words, the best first. */
function search(rows, query) {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      const [, field, rest] = /^(value|op|line|axis|kind):(.+)$/s.exec(word) ?? [];
      return field
        ? { text: rest, fields: [FIELDS[field]] }
        : { text: word, fields: Object.values(FIELDS) };
    });
  if (!words.length) return [];
  const found = [];
  rows.forEach((row, order) => {
    let score = 0;
    for (const word of words) {
      const best = Math.max(
        ...word.fields.map((field) => fit(row.fields[field], word.text) * WEIGHTS[field]),
      );
      if (best <= 0) return;
      score += best;
    }
    found.push({ row, score, order });
  });
  return found.sort((a, b) => b.score - a.score || a.order - b.order).map(({ row }) => row);
}

/** Returns how well a word fits a field: 3 for a whole line of it, 2 for a beginning, 1 else. */
function fit(field, word) {
  const at = field.indexOf(word);
  if (at < 0) return 0;
  const lines = field.split("\n");
  if (lines.includes(word)) return 3;
  return lines.some((line) => line.startsWith(word)) ? 2 : 1;
}

/** Makes the search field work. */
class SearchBox {
  constructor(app, input, list) {
    Object.assign(this, { app, input, list, hits: [], at: -1, rows: null });
    input.addEventListener("input", () => this.find());
    input.addEventListener("focus", () => this.find());
    input.addEventListener("blur", () => this.close());
    input.addEventListener("keydown", (event) => this.key(event));
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // Keeps the focus.
    list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.choose(Number(option.dataset.index));
    });
  }

  find() {
    const query = this.input.value.trim();
    if (!query) return this.close();
    this.rows ??= searchRows(this.app.model);
    this.hits = search(this.rows, query);
    this.at = this.hits.length ? 0 : -1;
    const shown = this.hits.slice(0, MOST_HITS);
    this.list.replaceChildren(
      element("p", {
        class: "muted",
        role: "presentation",
        text: this.hits.length ? `${COUNT.format(this.hits.length)} found` : "Nothing found",
      }),
      ...shown.map((row, index) => this.option(row, index)),
    );
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.mark();
    return this.app.say(
      this.hits.length ? `${COUNT.format(this.hits.length)} found` : "Nothing found",
    );
  }

  option(row, index) {
    const { model } = this.app;
    const { op: number, value } = row.selection;
    const op = number === undefined ? null : model.ops[number];
    const made = value === undefined ? null : model.values[value];
    const place = placeText(model, op ? op.place : made.place);
    return element(
      "div",
      { role: "option", id: `hit-${index}`, "data-index": index, "aria-selected": "false" },
      element(
        "span",
        { class: "line" },
        element("span", {
          class: "mono strong",
          text: [made?.spelling, op ? shortName(op) : made.label].filter(Boolean).join("  "),
        }),
        element("span", { class: "muted", text: op?.function ?? made.function }),
      ),
      element(
        "span",
        { class: "line" },
        value === undefined ? null : shapeSign(model, value),
        element("span", { class: "muted source", text: place }),
      ),
    );
  }

  mark() {
    const options = this.list.querySelectorAll("[role=option]");
    options.forEach((option, index) =>
      option.setAttribute("aria-selected", String(index === this.at)),
    );
    options[this.at]?.scrollIntoView({ block: "nearest" });
    if (this.at >= 0) this.input.setAttribute("aria-activedescendant", `hit-${this.at}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const count = Math.min(this.hits.length, MOST_HITS);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (this.list.hidden) this.find();
      else if (count) this.at = (this.at + (event.key === "ArrowDown" ? 1 : count - 1)) % count;
      this.mark();
    } else if (event.key === "Enter" && !this.list.hidden) this.choose(this.at);
    else if (event.key === "Escape") {
      event.stopPropagation();
      if (this.list.hidden) this.input.blur();
      else this.close();
    }
  }

  choose(index) {
    const row = this.hits[index];
    if (!row) return;
    this.close();
    this.app.select(row.selection);
    this.app.showInGraph();
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
