// Warnings before XLA's, and annotations that were tried and make the program talk less.

const MOST_NAMED = 3; // Of the values of a suggestion.

function adviceView(app) {
  const { model } = app;
  const warned = model.communication.filter((point) => point.rematerializes);
  return [
    element("h2", { text: "Advice" }),
    element("h3", { text: counted(model.suggestions.length, "suggestion") }),
    model.suggestions.length
      ? element(
          "ol",
          { class: "plain" },
          model.suggestions.map((suggestion) => suggestionItem(app, suggestion)),
        )
      : element("p", {
          class: "muted",
          text: "None. Annotations are tried where sdy-explain is run with --suggest.",
        }),
    element("h3", { text: counted(warned.length, "full rematerialization") }),
    element("p", {
      class: "muted",
      text: warned.length
        ? "XLA knows no way from the one sharding to the other: it gathers the whole tensor on every device."
        : "None. XLA gets from each sharding to the next without gathering a whole tensor on every device.",
    }),
    warned.slice(0, MOST_POINTS).map((point) => communicationItem(app, point)),
    more(warned.length, Math.min(warned.length, MOST_POINTS)),
  ];
}

function suggestionItem(app, suggestion) {
  const { model } = app;
  const { bytes_before: before, bytes_after: after } = suggestion;
  const entry = (name, amount, seconds) => ({
    key: name,
    sign: name,
    amount,
    text: [bytesText(amount), secondsText(seconds)].filter(Boolean).join(" · "),
  });
  const fewer =
    (suggestion.rematerializations_before ?? 0) - (suggestion.rematerializations_after ?? 0);
  const isRemoval = saysNothing(model.shardings[suggestion.sharding]);
  return element(
    "li",
    { class: "suggestion" },
    element(
      "p",
      {},
      isRemoval ? "Take the annotation off " : "Annotate ",
      suggestedValues(app, suggestion),
      isRemoval ? null : [" with ", shardingSign(model, suggestion.sharding)],
    ),
    element(
      "p",
      {},
      element("strong", {
        text: `A device sends ${bytesText(Math.abs(before - after))} ${after <= before ? "less" : "more"}`,
      }),
      fewer > 0 ? `, and ${counted(fewer, "full rematerialization")} less.` : ".",
    ),
    bars("Bytes sent by a device in one run", [
      entry("now", before, suggestion.seconds_before),
      entry("with it", after, suggestion.seconds_after),
    ]),
    isRemoval
      ? null
      : element("pre", { class: "mono", text: annotationCode(model, suggestion) }),
    Number.isInteger(suggestion.for)
      ? element("p", { class: "muted" }, "for what is moved at ", sourceLine(model, suggestion.for))
      : null,
  );
}

/** Returns the values to annotate: several where all are annotated alike. */
function suggestedValues(app, { value, values = [value] }) {
  const known = values.filter(Number.isInteger);
  const shown = known.slice(0, MOST_NAMED);
  const rest = known.length - shown.length;
  return [
    shown.map((each, index) => [index ? ", " : null, valueLink(app, each)]),
    rest ? ` and ${rest} more that are alike` : null,
  ];
}

/** Returns whether a sharding is as none at all. */
function saysNothing({ dimensions, replicated, unreduced }) {
  const isOpen = dimensions.every(({ axes, is_closed: isClosed }) => !axes.length && !isClosed);
  return isOpen && !replicated.length && !unreduced.length;
}

/** Returns the annotation as JAX has it; as a sharding where JAX cannot say it. */
function annotationCode(model, suggestion) {
  const sharding = model.shardings[suggestion.sharding];
  const value = model.values[suggestion.value];
  const isOnFunction = value?.op === null; // Of an argument or a result: JAX has no open ones.
  const dims = sharding.dimensions.map(({ axes, is_closed: isClosed }) => {
    if (!axes.length) return isClosed ? "None" : "P.UNCONSTRAINED";
    const names = axes.map((axis) => JSON.stringify(axis));
    return names.length === 1 ? names[0] : `(${names.join(", ")})`;
  });
  const isPartial = sharding.dimensions.some(
    ({ axes, is_closed: isClosed }) =>
      axes.some((axis) => parseAxis(axis).size !== null) || (axes.length && !isClosed),
  );
  const isOpen = sharding.dimensions.some(({ is_closed: isClosed }) => !isClosed);
  if (isPartial || sharding.unreduced.length || (isOnFunction && isOpen)) return sharding.text;
  if (isOnFunction) return `NamedSharding(mesh, P(${dims.join(", ")}))`;
  return `jax.lax.with_sharding_constraint(x, P(${dims.join(", ")}))`;
}
