// The knobs of a lesson and the table of its runs.
document.addEventListener("chappe", () => {
  const at = (id) => document.getElementById(id);
  const { knobs, defaults, presets, readings } = JSON.parse(at("data").textContent).lesson;
  const inputs = [...document.querySelectorAll(".knob")];
  let last = 0, rows = 0;

  const text = (value, unit) => {
    if (Number.isNaN(value)) return "-";
    return Math.abs(value) >= 100 || !unit ? String(Math.floor(value + 0.5)) : value.toPrecision(3);
  };

  // A number of a run: the sum of columns, divided by that of others.
  const read = (tables, { table, over, under, row, scale, unit }) => {
    const total = (names) => names.reduce((sum, name) => {
      const values = tables[table][name].map((v) => (v === null ? NaN : Number(v)));
      return sum + (row === null ? values.reduce((a, b) => a + b, 0) : values.at(row));
    }, 0);
    const divisor = under.length ? total(under) : 1;
    return text(divisor ? (scale * total(over)) / divisor : NaN, unit);
  };

  const show = (input, i) => { if (input.type === "range") input.nextElementSibling.textContent = knobs[i][input.value][0]; };
  const set = (positions) => inputs.forEach((input, i) => { input.value = positions[i]; show(input, i); });

  const go = async () => {
    last += 1;
    const mine = last, chosen = inputs.map((input) => Number(input.value));
    const changes = Object.assign({}, ...chosen.map((position, i) => knobs[i][position][1]));
    const other = chosen.flatMap((position, i) => (position === defaults[i] ? [] : [`${inputs[i].closest("label").firstChild.textContent.trim()}: ${knobs[i][position][0]}`]));
    const progress = { set textContent(said) { if (mine === last) at("went").textContent = said; } };
    delete document.body.dataset.went;
    try {
      const own = await window.chappe.whole(changes, progress);
      if (mine !== last) return;
      const tables = Object.fromEntries([...new Set(readings.map((r) => r.table))].map((name) => [name, JSON.parse(own.text({ table: name }))]));
      if (tables.packet_outcomes) {
        const data = tables.packet_outcomes.packet_class.map((word) => word === "data");
        for (const name of Object.keys(tables.packet_outcomes)) tables.packet_outcomes[name] = tables.packet_outcomes[name].filter((_, i) => data[i]);
      }
      rows += 1;
      const row = at("log").tBodies[0].insertRow(0);
      for (const cell of [`${rows}. ${other.join("; ") || "as it is"}`, ...readings.map((r) => read(tables, r))]) row.insertCell().textContent = cell;
      at("went").textContent = "";
      at("shown").textContent = `The player shows run ${rows}: ${other.join("; ") || "as it is"}.`;
      await window.chappe.show(changes);
      if (mine === last) document.body.dataset.went = String(rows);
    } catch (e) {
      if (mine === last) at("went").textContent = e.message;
    }
  };

  inputs.forEach((input, i) => input.addEventListener("input", () => show(input, i)));
  at("go").addEventListener("click", go);
  at("empty").addEventListener("click", () => { at("log").tBodies[0].replaceChildren(); rows = 0; });
  for (const button of document.querySelectorAll(".preset")) button.addEventListener("click", () => { set(presets[button.dataset.name]); go(); });

  const print = (solved) => {
    document.body.classList.toggle("solved", solved);
    window.print();
  };
  addEventListener("beforeprint", () => {
    for (const hidden of document.querySelectorAll(".solved .answer, .solved .teacher")) hidden.open = true;
  });
  addEventListener("afterprint", () => {
    for (const hidden of document.querySelectorAll(".solved .answer, .solved .teacher")) hidden.open = false;
    document.body.classList.remove("solved");
  });
  at("sheet").addEventListener("click", () => print(false));
  at("solved").addEventListener("click", () => print(true));
});
