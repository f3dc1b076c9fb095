// The playground: an editor, runs in a worker, tables with intervals, and the player of reports in a frame.
(() => {
  const at = (id) => document.getElementById(id);
  const data = JSON.parse(at("data").textContent), player = JSON.parse(at("page").textContent);
  const settings = new Map(data.settings.map(([name, about, words]) => [name, { about, words }]));
  const editor = at("editor"), choices = at("choices");
  const CHECK_MS = 400, CHOICES = 40;
  let bytes = null;

  // ---- workers ----

  const begun = () => {
    const url = URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" }));
    const made = new Worker(url);
    URL.revokeObjectURL(url);
    made.postMessage({ module: bytes });
    return made;
  };

  // ---- the editor ----

  let checker = null, due = 0;
  const problems = (text, isBad) => {
    at("problems").textContent = text;
    at("problems").classList.toggle("bad", isBad);
  };
  const check = () => { if (checker) checker.postMessage({ check: editor.value }); };
  const answered = ({ data: answer }) => {
    if (answer.text !== editor.value) return;
    problems(answer.error ?? answer.checked.warnings, Boolean(answer.error));
    document.body.dataset.checked = answer.error ? "bad" : "good";
  };

  // Words at the caret: the start of a name, or of a value with the name of its setting.
  const typed = () => {
    const before = editor.value.slice(0, editor.selectionStart), line = before.slice(before.lastIndexOf("\n") + 1);
    const heads = [...before.slice(0, before.length - line.length).matchAll(/^\s*\[\[?\s*([\w.-]+)\s*\]\]?/gm)];
    const group = heads.length ? `${heads[heads.length - 1][1]}.` : "";
    const value = /^\s*([\w.-]+)\s*=\s*(["\w.-]*)$/.exec(line);
    if (value) return { name: group + value[1], start: value[2] };
    const head = /^\s*\[\[?\s*([\w.-]*)$/.exec(line), name = /^\s*([\w.-]+)$/.exec(line);
    if (head) return { prefix: "", start: head[1], heads: true };
    return name || line.trim() === "" ? { prefix: group, start: name ? name[1] : "" } : null;
  };

  const completions = (place) => {
    if (place.name !== undefined) return (settings.get(place.name)?.words ?? []).filter((w) => w.startsWith(place.start) || w.startsWith(`"${place.start}`)).map((w) => [w, settings.get(place.name).about]);
    const all = [...settings.keys()].filter((n) => n.startsWith(place.prefix + place.start));
    const isGroup = (n) => settings.has(n) && data.settings.some(([other]) => other.startsWith(`${n}.`));
    return all.filter((n) => (place.heads ? isGroup(n) : !isGroup(n))).map((n) => [n.slice(place.prefix.length), settings.get(n).about]);
  };

  let open = [], index = -1, start = "";
  const close = () => {
    open = [];
    index = -1;
    choices.replaceChildren();
    editor.removeAttribute("aria-activedescendant");
  };
  const mark = (i) => {
    index = i;
    [...choices.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === i)));
    if (i < 0) return;
    editor.setAttribute("aria-activedescendant", choices.children[i].id);
    choices.children[i].scrollIntoView({ block: "nearest" });
    at("meaning").textContent = open[i][1];
  };
  const offer = (isAsked) => {
    const place = typed();
    const found = place && (isAsked || place.start) ? completions(place).filter(([text]) => text !== place.start).slice(0, CHOICES) : [];
    close();
    open = found;
    start = place?.start ?? "";
    choices.replaceChildren(...found.map(([text], i) => {
      const item = document.createElement("li");
      item.id = `choice-${i}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.textContent = text;
      item.addEventListener("mousedown", (e) => { e.preventDefault(); accept(i); });
      return item;
    }));
    if (!found.length) {
      const known = place?.name && settings.get(place.name);
      at("meaning").textContent = known ? `${place.name}: ${known.about}` : "";
    }
  };
  const accept = (i) => {
    const caret = editor.selectionStart, text = open[i][0];
    editor.setRangeText(text, caret - start.length, caret, "end");
    close();
    changed();
  };

  const changed = () => {
    delete document.body.dataset.checked;
    clearTimeout(due);
    due = setTimeout(check, CHECK_MS);
  };

  editor.addEventListener("input", () => { offer(false); changed(); });
  editor.addEventListener("blur", close);
  editor.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); close(); run(); }
    else if (e.key === " " && e.ctrlKey) { e.preventDefault(); offer(true); }
    else if (!open.length) return;
    else if (e.key === "Escape") { e.preventDefault(); close(); }
    else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      mark((index + (e.key === "ArrowDown" ? 1 : -1) + open.length) % open.length);
    } else if (e.key === "Enter" && index >= 0) { e.preventDefault(); accept(index); }
  });

  // ---- runs ----

  let worker = null;
  const running = (is) => {
    at("cancel").hidden = at("progress").hidden = !is;
    at("run").disabled = is;
  };
  const cancel = () => {
    if (worker) worker.terminate();
    worker = null;
    running(false);
    at("said").textContent = "Canceled.";
  };
  const run = () => {
    if (worker) worker.terminate();
    const text = editor.value, seeds = Math.min(Math.max(Math.round(Number(at("seeds").value)) || 1, 1), Number(at("seeds").max));
    at("seeds").value = String(seeds);
    delete document.body.dataset.ran;
    at("said").textContent = "";
    at("progress").value = 0;
    running(true);
    worker = begun();
    worker.addEventListener("message", ({ data: answer }) => {
      if (answer.progress !== undefined) { at("progress").value = answer.progress; return; }
      worker.terminate();
      worker = null;
      running(false);
      if (answer.error) {
        problems(answer.error, true);
        at("said").textContent = "The scenario was not run; its problems are above.";
        document.body.dataset.ran = "refused";
      } else show(text, answer.result);
    });
    worker.postMessage({ run: { text, seeds, checked: data.tables } });
  };

  // ---- results ----

  const number = (x, scale = 1) => (x === null || x === undefined ? "-" : String(Number((x * scale).toPrecision(4))));
  const table = (place, rows) => {
    place.replaceChildren();
    const head = place.createTHead(), body = place.createTBody();
    rows.forEach((cells, i) => {
      const row = (i ? body : head).insertRow();
      for (const cell of cells) {
        const box = row.appendChild(document.createElement(i ? "td" : "th"));
        if (!i) box.scope = "col";
        box.textContent = String(cell);
      }
    });
  };

  const drawn = (runs, e, measure) => {
    const plot = at("plot"), width = plot.clientWidth, values = runs.map((r) => r.goodput_bps.reduce((s, [bits]) => s + bits, 0) / r.goodput_bps.reduce((s, [, time]) => s + time, 0)).map((v) => v * measure.scale);
    const ends = [e.low, e.high].filter((x) => x !== null && Number.isFinite(x)).map((x) => x * measure.scale);
    const most = 1.1 * Math.max(...values.filter(Number.isFinite), ...ends, 1e-9), y = (v) => 120 - 105 * (v / most), x = (i) => 60 + ((width - 70) * (i + 0.5)) / values.length;
    const add = (name, attributes, text = "") => {
      const made = plot.appendChild(document.createElementNS("http://www.w3.org/2000/svg", name));
      for (const [k, v] of Object.entries(attributes)) made.setAttribute(k, String(v));
      made.textContent = text;
      return made;
    };
    plot.replaceChildren();
    plot.setAttribute("viewBox", `0 0 ${width} 150`);
    plot.setAttribute("aria-label", `Goodput of each of ${values.length} runs, with the mean and its interval; the table above has the numbers`);
    if (ends.length === 2) add("rect", { x: 60, width: width - 70, y: y(ends[1]), height: Math.max(1, y(ends[0]) - y(ends[1])) });
    if (e.mean !== null) add("line", { x1: 60, x2: width - 10, y1: y(e.mean * measure.scale), y2: y(e.mean * measure.scale) });
    add("line", { x1: 60, x2: width - 10, y1: 120, y2: 120 });
    add("text", { x: 4, y: 20 }, `${number(most)} ${measure.unit}`);
    add("text", { x: 44, y: 124 }, "0");
    values.forEach((v, i) => { if (Number.isFinite(v)) add("circle", { cx: x(i), cy: y(v), r: 4 }).appendChild(document.createElementNS("http://www.w3.org/2000/svg", "title")).textContent = `run ${i + 1}: ${number(v)} ${measure.unit}`; });
    add("text", { x: 4, y: 142 }, "dots: runs; line: mean; band: 95 % interval");
  };

  const show = (text, { first, runs }) => {
    const found = statistics.summary(runs, data.quantiles, first.about.fastest_bps), of = (name) => data.measures.find((m) => m.name === name);
    window.chappe = { summary: found, hashes: first.hashes };
    at("results").hidden = false;
    table(at("measures"), [["measure", "estimate", "95 % from", "to", "unit", "n"], ...found.map((e) => [of(e.name).label, number(e.mean, of(e.name).scale), number(e.low, of(e.name).scale), number(e.high, of(e.name).scale), of(e.name).unit, e.n])]);
    at("how").textContent = runs.length > 1 ? `From ${runs.length} runs with different seeds, the first that of the scenario.` : "From the batches of one run: other seeds may differ by more. Choose more seeds.";
    drawn(runs, found[0], of(found[0].name));
    const f = first.flows;
    table(at("flows"), [["flow", "src", "dst", "goodput [kbit/s]", "retransmissions", "timeouts", "RTT [ms]", "delay [ms]"], ...f.flow.map((n, i) => [n, f.src[i], f.dst[i], number(f.goodput_bps[i], 1e-3), f.retransmissions[i] ?? "-", f.timeouts[i] ?? "-", number(f.mean_rtt_s[i], 1e3), number(f.mean_delay_s[i], 1e3)])]);
    problems(first.about.warnings, false);
    play(text, first);
    document.body.dataset.ran = "done";
  };

  // JSON that ends no element.
  const embedded = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");
  const play = (text, first) => {
    const begins = first.flows.started_at_s.filter((s) => s !== null);
    const about = {
      epoch: first.about.epoch, simulated_s: first.simulated_s, begin_s: begins.length ? Math.min(...begins) : 0,
      goodput: first.flows.goodput_bps, tables: first.hashes,
    };
    const kept = ["unpacker", "module"].map((id) => `<script type="text/plain" id="${id}">${at(id).textContent}<\/script>`).join("");
    const frame = document.createElement("iframe");
    frame.id = "player";
    frame.title = "Map and player of the first seed";
    frame.addEventListener("load", () => {
      const { body, documentElement: whole } = frame.contentDocument;
      new ResizeObserver(() => { frame.style.height = `${whole.scrollHeight}px`; }).observe(body);
    });
    at("play").replaceChildren(frame);
    frame.srcdoc = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Player</title><style>${player.style}</style></head><body><main>${player.section}</main><script type="text/plain" id="source">"toml": ${embedded(text)}<\/script><script type="application/json" id="data">${embedded(about)}<\/script>${kept}<script>${player.script}<\/script></body></html>`;
  };

  // ---- links ----

  const link = () => {
    const url = new URL(location.href);
    url.hash = new URLSearchParams({ scenario: editor.value, seeds: at("seeds").value });
    return url.href;
  };
  const share = async () => {
    history.replaceState(null, "", link());
    try {
      await navigator.clipboard.writeText(link());
      at("shared").textContent = "The link is copied.";
    } catch {
      at("shared").textContent = "The link is in the address bar.";
    }
  };
  const restore = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    if (!given.has("scenario")) return false;
    editor.value = given.get("scenario");
    if (given.has("seeds")) at("seeds").value = given.get("seeds");
    changed();
    return true;
  };

  const example = () => { editor.value = data.examples[at("example").value]; close(); changed(); };

  const begin = async () => {
    if (!restore()) example();
    at("example").addEventListener("change", example);
    at("share").addEventListener("click", share);
    at("run").addEventListener("click", run);
    at("cancel").addEventListener("click", cancel);
    addEventListener("hashchange", restore);
    bytes = await simulator.unpacked();
    checker = begun();
    checker.addEventListener("message", answered);
    check();
    document.body.dataset.ready = "true";
  };
  begin().catch((e) => { at("said").textContent = `The simulator does not run in this browser: ${e.message}`; });
})();
