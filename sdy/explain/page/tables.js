// Tables that can be sorted by any column, and rows of bars for totals.

/**
 * Returns a table.
 *
 * columns: {title, value: row => what to sort by, cell: row => what to show, isNumber}. sortBy: the
 * title of the column that sorts at first, from the greatest. rowProperties: row => of its element.
 * below: row => what opens under it, or null.
 */
function sortableTable({ caption, columns, rows, sortBy, below }) {
  const body = element("tbody");
  const table = element(
    "table",
    { class: "data" },
    element("caption", { class: "unseen", text: caption }),
  );
  const sorted = { column: columns.find((column) => column.title === sortBy), isDown: true };
  const heads = columns.map((column) => {
    const button = element(
      "button",
      { type: "button", class: "sort" },
      column.title,
      element("span", { class: "arrow", "aria-hidden": "true" }),
    );
    button.addEventListener("click", () => {
      sorted.isDown = sorted.column === column ? !sorted.isDown : Boolean(column.isNumber);
      sorted.column = column;
      show();
    });
    return element("th", { scope: "col", class: column.isNumber ? "number" : "" }, button);
  });
  const show = () => {
    const key = sorted.column.value;
    const sign = sorted.isDown ? -1 : 1;
    const compare = (a, b) => (a < b ? -sign : a > b ? sign : 0);
    body.replaceChildren(
      ...[...rows]
        .sort((a, b) => compare(key(a), key(b)))
        .flatMap((row) => tableRows(columns, row, below)),
    );
    columns.forEach((column, index) => {
      const isBy = column === sorted.column;
      heads[index].setAttribute(
        "aria-sort",
        isBy ? (sorted.isDown ? "descending" : "ascending") : "none",
      );
      heads[index].querySelector(".arrow").textContent = isBy ? (sorted.isDown ? " ▼" : " ▲") : "";
    });
  };
  table.append(element("thead", {}, element("tr", {}, heads)), body);
  show();
  return element("div", { class: "table-box" }, table);
}

function tableRows(columns, row, below) {
  const cells = columns.map((column) =>
    element(
      "td",
      { class: column.isNumber ? "number" : "", "data-title": column.title },
      column.cell(row),
    ),
  );
  const made = element("tr", {}, cells);
  if (!below) return [made];
  const under = element(
    "tr",
    { class: "under", properties: { hidden: true } },
    element("td", { colspan: columns.length }),
  );
  const opener = element(
    "button",
    { type: "button", class: "opener", "aria-expanded": "false", "aria-label": "Show the places" },
    "▸",
  );
  const toggle = () => {
    under.hidden = !under.hidden;
    opener.textContent = under.hidden ? "▸" : "▾";
    opener.setAttribute("aria-expanded", String(!under.hidden));
    if (!under.hidden) under.firstChild.replaceChildren(...[below(row)].flat());
  };
  made.classList.add("opens");
  made.addEventListener("click", (event) => {
    if (event.target === opener || !event.target.closest("button")) toggle();
  });
  cells[0].prepend(opener);
  return [made, under];
}

/** Returns totals as bars: entries are {sign, amount, text}; the greatest is as long as can be. */
function bars(heading, entries, onClick, pressed) {
  const most = Math.max(1, ...entries.map((entry) => entry.amount));
  const rows = entries.map((entry) => {
    const bar = element("span", { class: "fill" });
    bar.style.width = `${(100 * entry.amount) / most}%`;
    const isPressed = pressed === undefined ? null : String(entry.key === pressed);
    return element(
      "li",
      {},
      element(
        onClick ? "button" : "div",
        {
          class: "bar-row",
          type: onClick ? "button" : null,
          "aria-pressed": isPressed,
          on: onClick ? { click: () => onClick(entry.key) } : {},
        },
        element("span", { class: "bar-name" }, entry.sign),
        element("span", { class: "bar-amount", text: entry.text }),
        element("span", { class: "track" }, bar),
      ),
    );
  });
  return element(
    "section",
    { class: "bars" },
    element("h3", { text: heading }),
    element("ul", { class: "plain" }, rows),
  );
}
