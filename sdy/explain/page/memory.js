// What one device needs to hold.

const MOST_TENSORS = 25;

function memoryView(app) {
  const { model } = app;
  const { memory } = model;
  const main = model.functions.find(({ name }) => name === "main") ?? model.functions[0];
  const parts = memory
    ? [
        { key: "peak", sign: "peak", amount: memory.peak, text: bytesText(memory.peak) },
        {
          key: "arguments",
          sign: "arguments",
          amount: memory.arguments,
          text: bytesText(memory.arguments),
        },
        {
          key: "results",
          sign: "results",
          amount: memory.results,
          text: bytesText(memory.results),
        },
      ]
    : [];
  return [
    element("h2", { text: "Memory of one device" }),
    memory
      ? element(
          "p",
          { class: "lead" },
          `At most ${bytesText(memory.peak)} are alive at once`,
          memory.peak_op === null
            ? "."
            : [
                ", at ",
                opLink(app, memory.peak_op),
                " ",
                sourceLine(model, model.ops[memory.peak_op].place),
                ".",
              ],
        )
      : element("p", { class: "muted", text: "It was not worked out." }),
    memory
      ? element(
          "div",
          { class: "cards" },
          bars("An estimate from the program alone", parts),
          main ? bars("Arguments by how they are split", argumentTotals(model, main)) : null,
        )
      : null,
    element("h3", { text: "The largest tensors" }),
    largestTable(app),
  ];
}

/** Returns the bytes of arguments that are whole on every device, and of those that are split. */
function argumentTotals(model, main) {
  const groups = new Map();
  for (const value of main.arguments)
    listed(groups, splittingAxes(model, value).join(", ")).push(model.values[value]);
  return [...groups]
    .map(([axes, values]) => ({
      key: axes,
      sign: axes
        ? axes.split(", ").map((axis) => axisSign(model, axis))
        : element("span", { class: "axis axis-none", text: "whole" }),
      amount: sum(values, localBytes),
      text: `${bytesText(sum(values, localBytes))} · ${COUNT.format(values.length)}×`,
    }))
    .sort((a, b) => b.amount - a.amount)
    .slice(0, 8);
}

function largestTable(app) {
  const { model } = app;
  const rows = model.values
    .map((value, number) => ({ value, number, bytes: localBytes(value) }))
    .filter(({ value }) => !value.name.startsWith("@"))
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, MOST_TENSORS);
  return sortableTable({
    caption: "The largest tensors on a device",
    sortBy: "On a device",
    rows,
    columns: [
      {
        title: "Value",
        value: (row) => row.value.spelling,
        cell: (row) => valueLink(app, row.number),
      },
      {
        title: "Sharding",
        value: (row) => splittingAxes(model, row.number).join(),
        cell: (row) => shapeSign(model, row.number),
      },
      {
        title: "Source",
        value: (row) => (row.value.label ? "" : placeText(model, row.value.place)),
        cell: (row) => (row.value.label ? "" : sourceLine(model, row.value.place)),
      },
      {
        title: "On a device",
        value: (row) => row.bytes,
        cell: (row) => bytesText(row.bytes),
        isNumber: true,
      },
    ],
  });
}
