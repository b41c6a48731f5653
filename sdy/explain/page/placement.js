// Which device holds which part of a value, as a drawing.
//
// The last two dimensions that are split are the rows and columns; where more are, there is a
// drawing for each place along the others.

const MOST_ROWS = 32;
const MOST_COLUMNS = 16;
const MOST_DRAWINGS = 4;

function placementSection(model, number) {
  const value = model.values[number];
  const tiling = tilingOf(model, value);
  if (!tiling) return null;
  const { counts, holders } = tiling;
  const parts = counts.reduce((product, count) => product * count, 1);
  const copies = Math.max(...[...holders.values()].map((ids) => ids.length));
  const said = `${counted(parts, "part")} of ${shapeText(value.local_shape)}, each on ${counted(copies, "device")}`;
  const split = counts.map((_, dim) => dim).filter((dim) => counts[dim] > 1);
  const places = placesAlong(split.slice(0, -2), counts);
  const drawings = places
    .slice(0, MOST_DRAWINGS)
    .map((place) => drawing(value, tiling, place, split.slice(-2)));
  return section(
    "Devices",
    element("p", { class: "muted", text: said }),
    element("div", { class: "drawings" }, drawings),
    more(places.length, drawings.length),
  );
}

/** Returns {counts, holders}: the parts along each dimension, and the devices of each part. */
function tilingOf(model, value) {
  const sharding = value.sharding === null ? null : model.shardings[value.sharding];
  const mesh = sharding && model.meshes.find(({ name }) => name === sharding.mesh);
  if (!mesh) return null;
  const axes = sharding.dimensions.map((dimension) =>
    dimension.axes.map((text) => axisInMesh(mesh, text)),
  );
  if (axes.flat().includes(null)) return null;
  const holders = new Map();
  for (let position = 0; position < mesh.devices; position += 1) {
    const part = axes.map((refs) =>
      refs.reduce((index, ref) => index * ref.size + placeAlong(position, ref), 0),
    );
    listed(holders, part.join()).push(
      mesh.device_ids?.length ? mesh.device_ids[position] : position,
    );
  }
  return {
    counts: axes.map((refs) => refs.reduce((product, { size }) => product * size, 1)),
    holders,
  };
}

/** Returns how to find the place of a device along an axis or a part of one. */
function axisInMesh(mesh, text) {
  const whole = mesh.axes.findIndex(({ name }) => name === text);
  const parsed =
    whole >= 0 ? { name: text, preSize: 1, size: mesh.axes[whole].size } : parseAxis(text);
  const index = mesh.axes.findIndex(({ name }) => name === parsed.name);
  if (index < 0 || parsed.size === null) return null;
  const minor = mesh.axes.slice(index + 1).reduce((product, axis) => product * axis.size, 1);
  const { size } = mesh.axes[index];
  return { size: parsed.size, stride: (minor * size) / (parsed.preSize * parsed.size) };
}

function placeAlong(position, { size, stride }) {
  return Math.floor(position / stride) % size;
}

/** Returns all places along some dimensions, each as a map from dimension to index. */
function placesAlong(dims, counts) {
  return dims.reduce(
    (places, dim) =>
      places.flatMap((place) =>
        Array.from({ length: counts[dim] }, (_, index) => new Map([...place, [dim, index]])),
      ),
    [new Map()],
  );
}

function drawing(value, { counts, holders }, place, shown) {
  const [rowDim, columnDim] =
    shown.length === 2
      ? shown
      : shown[0] === counts.length - 1
        ? [null, shown[0] ?? null]
        : [shown[0] ?? null, null];
  const rows = rowDim === null ? 1 : Math.min(counts[rowDim], MOST_ROWS);
  const columns = columnDim === null ? 1 : Math.min(counts[columnDim], MOST_COLUMNS);
  const caption = [...place]
    .map(([dim, index]) => `dim ${dim} ${rangeText(value, dim, index)}`)
    .join(", ");
  const cell = (row, column) => {
    const part = counts.map((_, dim) =>
      dim === rowDim ? row : dim === columnDim ? column : (place.get(dim) ?? 0),
    );
    const ids = holders.get(part.join()) ?? [];
    return element("td", { class: (row + column) % 2 ? "odd" : "" }, idsText(ids));
  };
  const names = [
    rowDim === null ? null : `dim ${rowDim} ↓`,
    columnDim === null ? null : `dim ${columnDim} →`,
  ].filter(Boolean);
  const head = element(
    "tr",
    {},
    element("td", { class: "corner", text: names.join(" ") }),
    columnDim === null
      ? null
      : Array.from({ length: columns }, (_, column) =>
          element("th", { scope: "col", text: rangeText(value, columnDim, column) }),
        ),
  );
  const body = Array.from({ length: rows }, (_, row) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", text: rowDim === null ? "" : rangeText(value, rowDim, row) }),
      Array.from({ length: columns }, (_, column) => cell(row, column)),
    ),
  );
  return element(
    "table",
    { class: "placement" },
    caption ? element("caption", { text: caption }) : null,
    head,
    body,
    (rowDim !== null && counts[rowDim] > rows) ||
      (columnDim !== null && counts[columnDim] > columns)
      ? element("tr", {}, element("td", { class: "corner", text: "…" }))
      : null,
  );
}

/** Returns which part of a dimension an index stands for. */
function rangeText(value, dim, index) {
  const size = value.local_shape[dim];
  const start = Math.min(index * size, value.shape[dim]);
  return `${start}:${Math.min(start + size, value.shape[dim])}`;
}

/** Returns device ids, runs of neighbours short: `0-3, 8`. */
function idsText(ids) {
  const sorted = [...ids].sort((a, b) => a - b);
  const runs = [];
  for (const id of sorted) {
    const last = runs[runs.length - 1];
    if (last && last[1] === id - 1) last[1] = id;
    else runs.push([id, id]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(", ");
}
