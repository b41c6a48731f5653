// Where the program talks: totals by kind and by axes, and a table by source line.

const MOST_POINTS = 60;

/** Returns the view; pressing a total shows only what it counts. */
function communicationView(app) {
  const { model } = app;
  if (!model.communication.length) {
    return [
      element("h2", { text: "Communication" }),
      element("p", { class: "muted", text: "No device needs anything of another one." }),
    ];
  }
  const host = element("div", { class: "view" });
  const only = { kind: null, axes: null };
  const show = () => host.replaceChildren(...communicationContent(app, only, show));
  show();
  return [host];
}

function communicationContent(app, only, show) {
  const { model } = app;
  const all = exchanges(model);
  const choose = (what) => (key) => {
    only[what] = only[what] === key ? null : key;
    show();
  };
  const shown = all.filter(
    (one) =>
      (only.kind === null || one.kind === only.kind) &&
      (only.axes === null || one.axes === only.axes),
  );
  const time = model.topology
    ? `, ${secondsText(sum(shown, (one) => one.seconds))} on ${model.topology.name}`
    : "";
  return [
    element("h2", { text: "Communication" }),
    element(
      "p",
      { class: "lead" },
      `In one run each device sends ${bytesText(sum(shown, (one) => one.bytes))} in ${counted(
        sum(shown, (one) => one.count),
        "collective",
      )}${time}.`,
    ),
    element(
      "div",
      { class: "cards" },
      bars("By kind", totals(all, "kind", kindText), choose("kind"), only.kind),
      bars(
        "By mesh axes",
        totals(all, "axes", (axes) => axes.split(", ").map((axis) => axisSign(model, axis))),
        choose("axes"),
        only.axes,
      ),
    ),
    linesTable(app, shown),
  ];
}

/** Returns each collective of each point, with what it adds up to in one run. */
function exchanges(model) {
  return model.communication.flatMap((point) => {
    const times = timesOf(point);
    const [frame] = model.places[point.place].frames;
    return point.collectives.map((collective) => ({
      point,
      frame,
      kind: collective.kind,
      axes: collective.axes.join(", "),
      count: times,
      bytes: times * collective.bytes,
      seconds:
        collective.seconds === null || collective.seconds === undefined
          ? null
          : times * collective.seconds,
    }));
  });
}

function totals(all, by, sign) {
  const groups = new Map();
  for (const one of all) listed(groups, one[by]).push(one);
  return [...groups]
    .map(([key, ones]) => ({
      key,
      sign: sign(key),
      amount: sum(ones, (one) => one.bytes),
      text: [
        bytesText(sum(ones, (one) => one.bytes)),
        `${COUNT.format(sum(ones, (one) => one.count))}×`,
        secondsText(
          ones.every((one) => one.seconds === null) ? null : sum(ones, (one) => one.seconds),
        ),
      ]
        .filter(Boolean)
        .join(" · "),
    }))
    .sort((a, b) => b.amount - a.amount);
}

function linesTable(app, shown) {
  const { model } = app;
  const groups = new Map();
  for (const one of shown)
    listed(groups, one.frame ? `${one.frame.file}:${one.frame.line}` : "").push(one);
  const rows = [...groups].map(([key, ones]) => ({
    key,
    ones,
    frame: ones[0].frame,
    kinds: [...new Set(ones.map((one) => one.kind))],
    axes: [...new Set(ones.flatMap((one) => one.axes.split(", ")))].filter(Boolean),
    count: sum(ones, (one) => one.count),
    bytes: sum(ones, (one) => one.bytes),
    seconds: sum(ones, (one) => one.seconds),
    warnings: new Set(ones.filter((one) => one.point.rematerializes).map((one) => one.point)).size,
  }));
  const columns = [
    {
      title: "Source line",
      value: (row) =>
        row.frame ? `${row.frame.file}:${String(row.frame.line).padStart(9, "0")}` : "",
      cell: lineCell,
    },
    {
      title: "Kinds",
      value: (row) => row.kinds.join(),
      cell: (row) =>
        row.kinds.map((kind) => element("span", { class: "kind", text: kindText(kind) })),
    },
    {
      title: "Axes",
      value: (row) => row.axes.join(),
      cell: (row) => row.axes.map((axis) => axisSign(model, axis)),
    },
    {
      title: "Count",
      value: (row) => row.count,
      cell: (row) => COUNT.format(row.count),
      isNumber: true,
    },
    {
      title: "Bytes",
      value: (row) => row.bytes,
      cell: (row) => bytesText(row.bytes),
      isNumber: true,
    },
  ];
  if (model.topology)
    columns.push({
      title: "Time",
      value: (row) => row.seconds,
      cell: (row) => secondsText(row.seconds),
      isNumber: true,
    });
  return sortableTable({
    caption: "Communication by source line",
    columns,
    rows,
    sortBy: "Bytes",
    below: (row) => pointList(app, row),
  });
}

function lineCell(row) {
  return [
    element("span", {
      class: "mono strong",
      title: row.frame?.file ?? "",
      text: row.frame ? frameText(row.frame) : "source not known",
    }),
    row.frame?.function
      ? element("span", { class: "muted", text: ` ${row.frame.function}` })
      : null,
    row.warnings
      ? element("span", {
          class: "warning-sign",
          title: "full rematerialization",
          text: ` ⚠ ${row.warnings}`,
        })
      : null,
  ];
}

function pointList(app, row) {
  const alike = new Map();
  for (const point of new Set(row.ones.map((one) => one.point)))
    listed(alike, looksOf(point)).push(point);
  const groups = [...alike.values()].sort(
    (a, b) => sum(b, (point) => point.bytes) - sum(a, (point) => point.bytes),
  );
  const shown = groups.slice(0, MOST_POINTS);
  return [
    element(
      "div",
      { class: "points" },
      shown.map((points) => pointsItem(app, points)),
    ),
    more(groups.length, shown.length),
  ].filter(Boolean);
}

/** Returns what is the same for points that an unrolled loop makes. */
function looksOf({ reason, from, to, shape, rematerializes, collectives, ...point }) {
  return JSON.stringify([reason, from, to, shape, rematerializes, collectives, timesOf(point)]);
}

/** Returns points that look the same: one of them, and where the others are. */
function pointsItem(app, points) {
  const [first, ...others] = points;
  const item = communicationItem(app, first);
  if (!others.length) return item;
  const shown = others.slice(0, MOST_POINTS);
  const list = element(
    "details",
    {},
    element("summary", { text: `and at ${counted(others.length, "other op")}` }),
    element(
      "ul",
      { class: "plain" },
      shown.map((point) => element("li", {}, point.op === null ? null : opLink(app, point.op))),
    ),
    more(others.length, shown.length),
  );
  item.append(list);
  return item;
}
