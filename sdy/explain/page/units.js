// Numbers as people read them.

const COUNT = new Intl.NumberFormat("en");

/** Returns a count with its noun: `1 op`, `4,516 ops`. */
function counted(count, noun) {
  return `${COUNT.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns bytes in the largest binary unit that leaves at least one: `1.5 KiB`. */
function bytesText(bytes) {
  let amount = bytes;
  let unit = 0;
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${unit && amount < 100 ? amount.toFixed(1) : COUNT.format(Math.round(amount))} ${units[unit]}`;
}

/** Returns seconds in the unit that suits them: `12.5 µs`; `` for null. */
function secondsText(seconds) {
  if (seconds === null || seconds === undefined) return "";
  for (const [unit, size] of [
    ["s", 1],
    ["ms", 1e-3],
    ["µs", 1e-6],
  ]) {
    if (seconds >= size) return `${(seconds / size).toPrecision(3)} ${unit}`;
  }
  return `${(seconds * 1e9).toFixed(0)} ns`;
}

/** Returns the size of a tensor: `64x32`, `scalar`. */
function shapeText(shape) {
  return shape.length ? shape.join("x") : "scalar";
}

/** Returns the sum of what a function says of each thing. */
function sum(things, amount) {
  let total = 0;
  for (const thing of things) total += amount(thing) ?? 0;
  return total;
}
