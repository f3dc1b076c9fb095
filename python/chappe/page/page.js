"use strict";
// The player of a run: the simulator is a WebAssembly module in this page, driven by requests in JSON.
(() => {
  const at = (id) => document.getElementById(id);
  const data = JSON.parse(at("data").textContent);
  // Kept as text: JSON.parse rounds whole numbers above 2 ** 53.
  const source = at("source").textContent;
  const RECORD = ["frames", "heard", "packets", "cwnd", "queue", "routes", "energy"];
  const CATEGORIES = { background: " BK", video: " VI", voice: " VO" };
  const LISTS = ["frames", "heard", "wires", "events", "cwnd", "queue", "energy"];
  const LOST = ["hidden_terminal", "same_slot", "captured", "transmitting", "damaged", "switched_off"];
  const LETTER = { rts: "R", cts: "C", data: "D", ack: "A", wire: "W" };
  const COLOR = { rts: "#8c6d31", cts: "#5a7d2b", data: "#0b5fa5", ack: "#2a7f62", wire: "#555566" };
  const LIGHT_LINES = ["#0b5fa5", "#b3261e", "#2a7f62", "#8c6d31", "#6b3fa0", "#555555"];
  const DARK_LINES = ["#7db8ee", "#ff8a80", "#6cc9a6", "#d6b36a", "#b794e6", "#b0b0bb"];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const KEPT = 40000, KEPT_HEARD = 240000, AHEAD = 0.05, MARKS = 64, SLICE_MS = 12, LINKS = 6000, LIGHT = 3e-6, LANES = 30, NAMED = 60, LEVELS = 5;
  const STATE = { off: "is off", transmitting: "sends", decoding: "decodes", sensing: "only senses", colliding: "hears a collision", idle: "is idle" };
  const SIGN = { off: "\u2013", transmitting: "S", decoding: "D", sensing: "\u00b7", colliding: "\u00d7", idle: "" };
  // To ask for styles is slow: they are noted until the scheme changes.
  const colors = new Map();
  const color = (name) => {
    if (!colors.has(name)) colors.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
    return colors.get(name);
  };
  dark.addEventListener("change", () => { colors.clear(); if (run.about) draw(); });

  let module = null;
  const core = async () => new simulator.Core((await WebAssembly.instantiate(module, {})).exports);

  // ---- the run that is looked at ----

  const run = { core: null, about: null, sim: 0, sim_ns: 0, ended: false, ways: new Map(), marks: [], step: 1, first: 0, several: false, lanes: [], wired: new Set(), ends: new Set(), leaving: new Map(), long: 0.02, links: [], levels: new Map(), linked: "", looked: 0, stations: null, box: null };
  let now = 0, playing = false, chosen = null, node = null, drawn = [], places = [];

  const rowsOf = (columns) => {
    const names = Object.keys(columns), n = names.length ? columns[names[0]].length : 0, rows = [];
    for (let i = 0; i < n; i += 1) {
      const row = {};
      for (const name of names) row[name] = columns[name][i];
      rows.push(row);
    }
    return rows;
  };

  const clear = (first) => {
    for (const name of LISTS) run[name] = [];
    run.ways = new Map();
    run.leaving = new Map();
    run.first = first;
  };

  // Index of the first row at or after a time, in rows that are sorted by time.
  const from = (rows, time_s) => {
    let low = 0, high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle].time_s < time_s) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  // Adds rows, most of which are later than those that are there.
  const add = (rows, added) => {
    if (!added.length) return;
    added.sort((a, b) => a.time_s - b.time_s);
    const tail = rows.splice(from(rows, added[0].time_s));
    const all = tail.length ? [...tail, ...added].sort((a, b) => a.time_s - b.time_s) : added;
    for (const row of all) rows.push(row);
  };

  const label = (n) => (data.names || {})[n] ?? String(n);

  const words = (text) => (text || "").replaceAll("_", " ");
  const told = {
    dropped: (r) => `packet ${r.packet} is dropped at node ${label(r.node)}: ${(r.drop_reason || "").replaceAll("_", " ")}${r.retry_cause ? ", " + r.retry_cause.replaceAll("_", " ") : ""}`,
  };

  const take = () => {
    const rows = run.core.ask({ rows: RECORD });
    const added = Object.fromEntries(LISTS.map((name) => [name, rowsOf(rows[name] || {})]));
    const event = (time_s, kind, text, bad = true) => added.events.push({ time_s, kind, text, bad });
    for (const r of added.frames) {
      r.end_s = r.time_s + r.airtime_s;
      r.lost = LOST.includes(r.outcome) || r.outcome === "out_of_range";
      if (LOST.slice(0, 3).includes(r.outcome)) added.events.push({ time_s: r.time_s, kind: "collision", bad: true, frame: r, text: `${r.frame_type} of node ${label(r.src)} to node ${label(r.dst)} is lost: ${words(r.outcome)}` });
    }
    // Sorted by the beginning of the frame, so that the bars of an interval are found.
    for (const r of added.heard) [r.end_s, r.time_s] = [r.time_s, r.started_at_s];
    for (const r of rowsOf(rows.packets || {})) {
      if (!run.ways.has(r.packet)) run.ways.set(r.packet, []);
      run.ways.get(r.packet).push(r);
      wire(r, added.wires);
      if (r.event === "dropped") event(r.time_s, "drop", told.dropped(r));
      else if (r.event === "delivered" && r.node === r.dst) event(r.time_s, "delivered", `packet ${r.packet} (${words(r.packet_type)} ${r.sequence}) is delivered at node ${label(r.node)}`, false);
    }
    for (const r of added.cwnd) {
      if (r.event === "timeout") event(r.time_s, "timeout", `the timer of flow ${r.flow} expires, the next timeout after ${r.rto_s.toPrecision(3)} s`);
      if (r.event === "fast_retransmit") event(r.time_s, "repair", `flow ${r.flow} retransmits after duplicate acknowledgements`, false);
    }
    for (const r of rowsOf(rows.routes || {})) if (r.event === "removed") event(r.time_s, "route", `node ${label(r.node)} loses its route to node ${label(r.dst)}`);
    for (const f of [...added.frames, ...added.wires]) run.long = Math.max(run.long, f.end_s - f.time_s);
    for (const name of LISTS) add(run[name], added[name]);
    if (run.frames.length > KEPT || run.heard.length > KEPT_HEARD) {
      const cut = run.frames[run.frames.length >> 1].time_s;
      for (const name of LISTS) run[name].splice(0, from(run[name], cut));
      run.first = Math.max(run.first, cut);
      for (const [packet, way] of run.ways) if (way[way.length - 1].time_s < cut) run.ways.delete(packet);
    }
  };

  // A packet on a point-to-point link is a bar, too: from its departure to its arrival.
  const wire = (r, wires) => {
    if (r.event === "dequeued" && run.wired.has(`${r.node} ${r.next_hop}`)) run.leaving.set(`${r.packet} ${r.next_hop}`, r);
    const left = r.event === "arrived" && run.leaving.get(`${r.packet} ${r.node}`);
    if (!left) return;
    run.leaving.delete(`${r.packet} ${r.node}`);
    wires.push({ time_s: left.time_s, end_s: r.time_s, src: left.node, dst: r.node, frame_type: "wire", bytes: left.bytes, packet: r.packet, outcome: "received", lost: false, channel: null });
  };

  const mark = () => {
    const last = run.marks.length ? run.marks[run.marks.length - 1].time_s : -Infinity;
    if (run.sim - last < run.step) return;
    run.marks.push({ time_s: run.sim, at_ns: run.sim_ns, id: run.core.ask({ mark: 1 }).mark });
    if (run.marks.length > MARKS) {
      run.step *= 2;
      run.marks = run.marks.filter((m, i) => i % 2 === 0 || void run.core.ask({ forget: m.id }));
    }
  };

  // Request that begins a run; changes are JSON texts by the names of settings.
  const opening = (changes, more = "") => `{${source}, "changes": {${Object.entries(changes).map(([k, v]) => `${JSON.stringify(k)}: ${v}`).join(", ")}}${more}}`;
  const texts = (changes) => Object.fromEntries(Object.entries(changes).map(([k, v]) => [k, JSON.stringify(v)]));

  const open = (changes = {}) => {
    const begin = (more) => { run.about = run.core.ask(opening({ ...changes, "run.record": JSON.stringify(RECORD), ...more })); };
    begin({});
    // Batteries are recorded with the samples, some five hundred in a run.
    const energy = rowsOf(run.core.ask({ stations: 0 })).some((s) => s.remaining_j !== null);
    if (energy) begin({ "run.sample_interval": `"${Math.max(1, Math.round(2 * data.simulated_s))} ms"` });
    Object.assign(run, { sim: 0, sim_ns: 0, ended: false, marks: [], step: 1 });
    run.several = new Set(run.about.radios.map((r) => r[1])).size > 1;
    run.lanes = run.about.radios.map(([n, channel]) => ({ n, channel: run.several ? channel : null }));
    for (let n = run.about.x_m.length; n < run.about.x_m.length + run.about.wired_nodes; n += 1) run.lanes.push({ n, channel: null });
    run.lanes.sort((a, b) => a.n - b.n || a.channel - b.channel);
    run.wired = new Set(run.about.wires.map(([a, b]) => `${a} ${b}`));
    run.ends = new Set(run.about.wires.flat());
    Object.assign(run, { linked: "", links: [], levels: new Map(), box: null, stations: null });
    clear(0);
    mark();
  };

  // Advances the run until it knows everything up to this time, in slices, so that the page stays alive.
  // Events before `kept_s` are not kept. Ends when somebody aims elsewhere, and returns whether nobody did.
  let aims = 0;
  const reach = async (time_s, kept_s = -Infinity, mine = aims) => {
    // In whole nanoseconds, as the simulator counts: an instant between two of them is never reached.
    const target_ns = Math.round(time_s * 1e9);
    let begun = performance.now();
    while (mine === aims && !run.ended && run.sim_ns < target_ns) {
      const over = run.sim < kept_s;
      const upto_ns = Math.min(over ? Math.round(kept_s * 1e9) : target_ns, run.sim_ns + Math.round(run.step * 1e9));
      const state = run.core.ask({ until: upto_ns, steps: 200000 });
      run.sim_ns = state.now_ns;
      run.sim = state.now_ns / 1e9;
      run.ended = state.ended;
      if (over) {
        run.core.ask({ rows: [] });
        clear(run.sim);
      } else {
        take();
      }
      mark();
      if (performance.now() - begun > SLICE_MS) {
        await new Promise((r) => setTimeout(r));
        begun = performance.now();
      }
    }
    return mine === aims;
  };

  const seek = async (time_s, mine = ++aims) => {
    const begin = Math.max(0, time_s - 2 * span());
    if (begin < run.first) {
      const m = run.marks.filter((k) => k.time_s <= begin).pop() || run.marks[0];
      run.core.ask({ back: m.id });
      run.sim = m.time_s;
      run.sim_ns = m.at_ns;
      run.ended = false;
      clear(m.time_s);
    }
    // Far ahead: only the last part is of interest.
    if (!(await reach(time_s + AHEAD, begin - run.sim > 30 ? begin - 2 : -Infinity, mine))) return;
    now = run.ended ? Math.min(time_s, run.sim) : time_s;
    draw();
    if (chosen && !run.frames.includes(chosen)) chosen = null;
  };

  // ---- steps ----

  // Instant at which a lost frame meets that of the sender next to its receiver: before, there is no collision to be seen.
  const meeting = (f) => {
    const place = new Map((run.stations || []).map((s) => [s.node, s])), to = place.get(f.dst);
    const near = run.frames.slice(from(run.frames, f.time_s - run.long), from(run.frames, f.end_s));
    const others = near.filter((g) => g.src !== f.src && g.end_s > f.time_s && g.channel === f.channel && place.has(g.src));
    const far = (g) => Math.hypot(place.get(g.src).x_m - to.x_m, place.get(g.src).y_m - to.y_m);
    const first = to && others.reduce((best, g) => (best === null || far(g) < far(best) ? g : best), null);
    return first ? Math.max(f.time_s, first.time_s) : f.time_s;
  };
  const collisions = () => {
    const known = run.events.filter((e) => e.kind === "collision" && (run.ended || e.frame.end_s + run.long <= run.sim));
    return known.map((e) => ({ ...e, time_s: meeting(e.frame) })).sort((a, b) => a.time_s - b.time_s);
  };

  const of = (kind) => (kind === "frame" ? run.frames : kind === "collision" ? collisions() : run.events.filter((e) => e.kind === kind));

  const step = async (kind, to) => {
    pause();
    const eps = 1e-9, mine = ++aims;
    for (let tries = 0; tries < 4000; tries += 1) {
      const known = of(kind);
      const found = to > 0 ? known.find((r) => r.time_s > now + eps) : known.filter((r) => r.time_s < now - eps).pop();
      if (found) return seek(found.time_s, mine);
      if (to > 0) {
        if (run.ended) return say(`no further ${kind}`);
        if (!(await reach(run.sim + Math.max(0.1, span()), -Infinity, mine))) return undefined;
      } else {
        if (run.first <= 0) return say(`no earlier ${kind}`);
        const then = now;
        await seek(Math.max(0, run.first - run.step), mine);
        if (!(await reach(then, -Infinity, mine))) return undefined;
        now = then;
      }
    }
    return say(`no ${kind} found`);
  };

  // ---- drawing ----

  const span = () => 10 ** Number(at("span").value);
  const speed = () => 10 ** Number(at("speed").value);
  const seconds = (x) => (x >= 1 ? `${x.toPrecision(3)} s` : x >= 1e-3 ? `${(x * 1e3).toPrecision(3)} ms` : `${(x * 1e6).toPrecision(3)} us`);

  // Sizes are noted when they change: to ask for them makes the browser lay the page out in every picture.
  const sizes = new Map();
  const fresh = new ResizeObserver((entries) => {
    for (const entry of entries) sizes.set(entry.target, [entry.target.clientWidth, entry.target.clientHeight]);
    if (run.about && !playing) draw();
  });
  const sizeOf = (canvas) => {
    if (!sizes.has(canvas)) {
      sizes.set(canvas, [canvas.clientWidth, canvas.clientHeight]);
      fresh.observe(canvas);
    }
    return sizes.get(canvas);
  };
  const setHeight = (canvas, height) => {
    if (sizeOf(canvas)[1] === height) return;
    canvas.style.height = `${height + 2}px`;
    sizes.set(canvas, [sizeOf(canvas)[0], height]);
  };

  const sized = (canvas) => {
    const scale = window.devicePixelRatio || 1, [width, height] = sizeOf(canvas);
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const c = canvas.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = "11px system-ui, sans-serif";
    return [c, width, height];
  };

  const laneName = (lane) => (lane.channel === null ? `node ${label(lane.n)}` : `${label(lane.n)} ch ${lane.channel}`);

  const cross = (c, x, y, w, h) => {
    c.beginPath();
    c.moveTo(x, y); c.lineTo(x + w, y + h); c.moveTo(x, y + h); c.lineTo(x + w, y);
    c.stroke();
  };

  const lanes = () => {
    const begin = now - 0.8 * span(), end = begin + span();
    const within = (rows) => rows.slice(from(rows, begin - run.long), from(rows, end)).filter((f) => f.end_s >= begin);
    const shown = [...within(run.frames), ...within(run.wires)];
    const key = (n, channel) => `${n} ${run.several ? channel : null}`, wireKey = (n) => [...run.lanes].filter((l) => l.n === n).map((l) => `${l.n} ${l.channel}`)[0];
    let active = run.lanes;
    const folded = run.lanes.length > LANES;
    if (folded) {
      const part = new Set(shown.flatMap((f) => [f.src, f.dst]));
      active = run.lanes.filter((l) => part.has(l.n)).slice(0, LANES + 10);
    }
    const canvas = at("lanes");
    // The number of folded lanes changes with each picture: the height only grows while the run is played.
    const rows = folded ? 5 * Math.ceil(active.length / 5) : active.length, before = playing ? sizeOf(canvas)[1] : 0;
    setHeight(canvas, Math.max(120, 22 * Math.max(rows, 1) + 22, folded ? before : 0));
    const [c, width, height] = sized(canvas);
    const left = run.several ? 66 : 52, x = (t) => left + ((t - begin) / (end - begin)) * (width - left - 6);
    const y = new Map(active.map((l, i) => [`${l.n} ${l.channel}`, 4 + 22 * i]));
    const ink = color("--ink"), line = color("--line"), bad = color("--bad"), accent = color("--accent");
    active.forEach((lane, i) => {
      c.fillStyle = ink;
      c.fillText(laneName(lane), 4, 18 + 22 * i);
      c.fillStyle = line;
      c.fillRect(left, 23 + 22 * i, width - left, 1);
    });
    // A frame that a node was locked on: blue where it is decoded, red where it is lost, gray where it is only sensed.
    for (const h of run.heard.slice(from(run.heard, begin - run.long), from(run.heard, end))) {
      const top = y.get(key(h.node, h.channel));
      if (top === undefined || h.end_s < begin) continue;
      const x0 = Math.max(x(h.time_s), left), w = Math.max(Math.min(x(h.end_s), width - 6) - x0, 1);
      c.globalAlpha = h.time_s > now ? 0.25 : 1;
      c.fillStyle = h.verdict === "decoded" ? accent : h.verdict === "collided" || h.verdict === "damaged" ? bad : line;
      c.fillRect(x0, top + (h.verdict === "decoded" ? 15 : 16), w, h.verdict === "decoded" ? 3 : 2);
      if (h.verdict === "collided" || h.verdict === "damaged") { c.strokeStyle = bad; c.lineWidth = 1; cross(c, x0 + w - 5, top + 11, 5, 5); }
    }
    drawn = [];
    for (const f of shown) {
      const top = y.get(f.channel === null ? wireKey(f.src) : key(f.src, f.channel)), x0 = Math.max(x(f.time_s), left), w = Math.max(x(f.end_s) - x0, 1.5);
      if (top === undefined) continue;
      const high = f.channel === null ? 8 : 17;
      c.globalAlpha = f.time_s > now ? 0.25 : 1;
      c.fillStyle = f.dst === null ? "#6b3fa0" : COLOR[f.frame_type];
      c.fillRect(x0, top, w, high);
      drawn.push([x0, top, Math.max(w, 4), high, f]);
      if (f.lost) {
        c.strokeStyle = bad;
        c.lineWidth = 2;
        cross(c, x0, top, w, 17);
        c.strokeRect(x0, top, w, 17);
      }
      if (w > 10) {
        c.fillStyle = "#ffffff";
        c.fillText(f.dst === null ? "B" : LETTER[f.frame_type], x0 + 3, top + (f.channel === null ? 8 : 13));
      }
      if (chosen === f) {
        c.strokeStyle = ink;
        c.lineWidth = 2;
        c.strokeRect(x0 - 1, top - 1, w + 2, 19);
      }
      c.globalAlpha = 1;
    }
    c.globalAlpha = 1;
    c.fillStyle = accent;
    c.fillRect(x(now), 0, 1.5, height);
    c.fillText(seconds(span()), width - 60, height - 5);
    if (folded) c.fillText(`${run.lanes.length - active.length} lanes without frames are folded`, left, height - 5);
  };

  // State of the stations now; on the way at high speed there is no time for it.
  const look = () => {
    // A signal takes some microseconds to its receivers: at its first instant nobody senses it.
    const now_ns = Math.round((now + LIGHT) * 1e9);
    run.stations = rowsOf(run.core.ask({ stations: now_ns }));
    const where = run.stations.map((s) => `${s.x_m},${s.y_m}`).join(" ");
    const due = performance.now() - run.looked > (run.stations.length > 60 ? 500 : 100);
    if (run.linked === "" || (where !== run.linked && (due || !playing))) {
      const found = run.core.ask({ links: now_ns }).filter((l) => l[3] !== null);
      const rates = new Map(found.map(([a, b, on, bps]) => [`${a} ${b} ${on}`, bps]));
      // Each pair once, with the slower rate of both directions, or null if frames are decoded in one only.
      run.links = [];
      for (const [a, b, on, bps] of found) {
        const back = rates.get(`${b} ${a} ${on}`);
        if (back === undefined || a < b) run.links.push([a, b, on, back === undefined ? null : Math.min(bps, back)]);
      }
      leveled(run.links.map((l) => l[3]).filter((bps) => bps !== null));
      run.linked = where;
      run.looked = performance.now();
    }
  };

  // Levels of the rates that links have had, as in the map of the scenario, and their legend.
  const leveled = (bps) => {
    const rates = [...new Set([...run.levels.keys(), ...bps])].sort((a, b) => a - b);
    if (rates.length === run.levels.size) return;
    const groups = Math.min(rates.length, LEVELS), legend = at("rates");
    legend.textContent = "Links by the rate of the slower direction: ";
    for (let group = 0; group < groups; group += 1) {
      const part = rates.slice(Math.floor((group * rates.length) / groups), Math.floor(((group + 1) * rates.length) / groups));
      const level = groups === 1 ? LEVELS - 1 : Math.round((group * (LEVELS - 1)) / (groups - 1));
      const entry = legend.appendChild(document.createElement("span"));
      entry.className = groups === 1 ? "rate" : `rate l${level}`;
      entry.textContent = `${[...new Set([part[0], part[part.length - 1]])].map((r) => r / 1e6).join(" to ")} Mbit/s`;
      for (const rate of part) run.levels.set(rate, level);
    }
  };

  // Places of all nodes: those without a radio lie beside the node that they have a wire to, or on a circle.
  const placed = () => {
    const found = [];
    for (const s of run.stations) found[s.node] = [s.x_m, s.y_m];
    const all = run.about.x_m.length + run.about.wired_nodes, reach = Math.max(100, ...found.map((p) => Math.abs(p[0])), ...found.map((p) => Math.abs(p[1])));
    for (let tries = 0; run.stations.length && tries < all; tries += 1) {
      for (const [a, b] of run.about.wires) {
        if (!found[a] || found[b]) continue;
        const beside = Object.keys(found).length - run.about.x_m.length;
        found[b] = [found[a][0] + 0.25 * reach, found[a][1] + 0.12 * reach * (1 + (beside >> 1)) * (beside % 2 ? -1 : 1)];
      }
    }
    for (let n = 0; n < all; n += 1) if (!found[n]) found[n] = [reach * Math.cos((2 * Math.PI * n) / all), reach * Math.sin((2 * Math.PI * n) / all)];
    return found;
  };

  const map = () => {
    look();
    const spots = placed();
    places = [];
    if (!spots.length) return;
    const xs = spots.map((p) => p[0]), ys = spots.map((p) => p[1]), box = run.box || [Infinity, Infinity, -Infinity, -Infinity];
    // The box only grows, so that the picture does not jump while nodes move.
    run.box = [Math.min(box[0], ...xs), Math.min(box[1], ...ys), Math.max(box[2], ...xs), Math.max(box[3], ...ys)];
    const [x0, y0, x1, y1] = run.box, wide = Math.max(x1 - x0, 1), high = Math.max(y1 - y0, 1);
    const canvas = at("place");
    setHeight(canvas, Math.round(Math.max(130, Math.min(spots.length > 12 ? 560 : 360, 80 + (high * (sizeOf(canvas)[0] - 90)) / wide))));
    const [c, width, height] = sized(canvas);
    const scale = Math.min((width - 90) / wide, (height - 70) / high);
    const to = (p) => [35 + (p[0] - x0) * scale + (width - 90 - wide * scale) / 2, 30 + (y1 - p[1]) * scale + (height - 70 - high * scale) / 2];
    const ink = color("--ink"), line = color("--line"), paper = color("--paper"), bad = color("--bad"), accent = color("--accent");
    const between = (a, b, shift = 0) => {
      const [[ax, ay], [bx, by]] = [to(spots[a]), to(spots[b])], far = Math.hypot(bx - ax, by - ay) || 1, [dx, dy] = [(-shift * (by - ay)) / far, (shift * (bx - ax)) / far];
      c.moveTo(ax + dx, ay + dy);
      c.lineTo(bx + dx, by + dy);
    };
    const channels = [...new Set(run.about.radios.map((r) => r[1]))], shift = (channel) => 5 * channels.indexOf(channel);
    c.lineWidth = 1;
    if (run.links.length < LINKS) {
      channels.forEach((channel, i) => {
        for (const level of [null, ...Array(LEVELS).keys()]) {
          c.strokeStyle = level === null || run.levels.size === 1 ? line : color(`--l${level}`);
          c.lineWidth = level === null || run.levels.size === 1 ? 1 : 0.7 + 0.25 * level;
          c.setLineDash(level === null ? [1, 4] : i ? [2, 3] : []);
          c.beginPath();
          for (const [a, b, on, bps] of run.links) if (on === channel && (bps === null ? null : run.levels.get(bps)) === level) between(a, b, shift(on));
          c.stroke();
        }
      });
    }
    c.setLineDash([]);
    c.strokeStyle = ink;
    c.lineWidth = 2;
    c.beginPath();
    for (const [a, b] of run.about.wires) between(a, b);
    c.stroke();
    const air = (rows) => rows.slice(from(rows, now - run.long), from(rows, now + 1e-9)).filter((f) => f.end_s > now);
    for (const f of [...air(run.frames), ...air(run.wires)]) {
      if (f.dst === null) continue;
      c.strokeStyle = f.lost ? bad : COLOR[f.frame_type];
      c.lineWidth = f.channel === null ? 5 : 4;
      c.setLineDash(f.lost ? [5, 4] : []);
      c.beginPath(); between(f.src, f.dst, f.channel === null ? 0 : shift(f.channel)); c.stroke();
      c.setLineDash([]);
      const [[ax, ay], [bx, by]] = [to(spots[f.src]), to(spots[f.dst])];
      c.fillStyle = ink;
      const label = `${words(f.frame_type)}${run.several && f.channel !== null ? ` ch ${f.channel}` : ""}`;
      c.fillText(label, (ax + bx - c.measureText(label).width) / 2, (ay + by) / 2 - 6);
    }
    const named = spots.length <= NAMED, radius = named ? 9 : 4;
    const dot = (n, x, y, s, r) => {
      const state = s ? s.state : "idle";
      c.lineWidth = 1;
      if (s && s.nav_time_s > 0) {
        c.strokeStyle = accent;
        c.lineWidth = named ? 2 : 1;
        c.setLineDash([3, 2]);
        c.beginPath(); c.arc(x, y, r + 3, 0, 2 * Math.PI); c.stroke();
        c.setLineDash([]);
        c.lineWidth = 1;
      }
      c.beginPath();
      if (!run.ends.has(n)) c.arc(x, y, r, 0, 2 * Math.PI);
      else c.rect(x - r, y - r, 2 * r, 2 * r);
      c.fillStyle = { transmitting: "#0b5fa5", decoding: "#9cc7ee", sensing: line, colliding: bad, off: "#77777f", idle: paper }[state];
      c.fill();
      c.strokeStyle = ink;
      c.stroke();
      if (named && SIGN[state]) {
        c.fillStyle = state === "decoding" ? "#1b1b1f" : state === "sensing" ? ink : state === "colliding" ? paper : "#ffffff";
        c.fillText(SIGN[state], x - 4, y + 4);
      }
      if (n === node) { c.strokeStyle = ink; c.lineWidth = 2; c.strokeRect(x - r - 6, y - r - 6, 2 * r + 12, 2 * r + 12); }
    };
    const of = new Map();
    for (const s of run.stations) of.set(s.node, [...(of.get(s.node) || []), s]);
    // Rectangles of nodes and names: a name without room is shown only by pointing at its node.
    const taken = spots.map(to).map(([x, y]) => [x - radius + 3, y - radius + 3, x + radius - 3, y + radius - 3]);
    spots.forEach((p, n) => {
      const [x, y] = to(p), radios = of.get(n) || [null];
      places.push([x, y, n]);
      radios.forEach((s, i) => dot(n, x + 2.3 * radius * i, y, s, i ? radius - 2 : radius));
      if (!named) return;
      c.fillStyle = ink;
      const name = label(n), long = c.measureText(name).width;
      const at = [[x - radius - (name.length > 1 ? 8 : 2), y - radius], [x + radius + 3, y + 4], [x - radius - 3 - long, y + 4]];
      const room = at.find(([left, base]) => taken.every(([l, t, r, b]) => left > r || left + long < l || base - 9 > b || base < t));
      if (room) {
        c.fillText(name, ...room);
        taken.push([room[0], room[1] - 9, room[0] + long, room[1]]);
      }
      const s = radios[0], queued = radios.reduce((sum, r) => sum + (r ? r.packets : 0), 0);
      if (queued) {
        c.fillStyle = accent;
        c.fillRect(x + radius + 3, y + radius - Math.min(queued, 20), 4, Math.min(queued, 20));
        c.fillText(`${queued}`, x + radius + 9, y + radius);
      }
      if (s && spots.length <= LANES) {
        c.fillStyle = ink;
        if (s.backoff_slots !== null) c.fillText(`${s.backoff_slots}${s.counting ? "" : " frozen"}/${s.cw}`, x - radius, y + radius + 13);
        if (s.remaining_j !== null) c.fillText(`${s.remaining_j.toPrecision(3)} J`, x - radius, y + radius + 25);
      }
    });
    const missing = [...(run.links.length < LINKS ? [] : [`the ${run.links.length.toLocaleString("en")} links`]), ...(named ? [] : ["names and queues of the nodes"])];
    setText("left-out", missing.length ? `Not drawn for ${spots.length.toLocaleString("en")} nodes: ${missing.join("; ")}. Point at a node, or choose one, to read about it.` : "");
    setText("seen", node === null ? "Point at a node, or choose one, for its NAV, backoff, contention window and queue." : seen(node, of.get(node)));
  };

  const seen = (n, radios) => (!radios ? `Node ${label(n)} has no radio.` : radios.map((s) => [
    `Node ${label(n)}${run.several ? ` on channel ${s.channel}` : ""} ${STATE[s.state]}${s.src !== null && s.state !== "idle" ? `, locked on node ${label(s.src)}` : ""}`,
    s.nav_time_s > 0 ? `NAV ${seconds(s.nav_time_s)}` : "NAV idle",
    s.backoff_slots === null ? "no backoff" : `backoff ${s.backoff_slots} slots ${s.counting ? "to go" : "frozen"}`,
    `CW ${s.cw}`,
    s.holding ? `holds a packet (${s.short_retries} short and ${s.long_retries} long failures)` : "holds no packet",
    `queue ${s.packets}`,
    ...(s.remaining_j === null ? [] : [`${s.remaining_j.toPrecision(4)} J left`]),
  ].join(", ")).join("; ") + ".");

  // Curves over the time before now, a color and a dash for each key.
  const curves = (id, title, rows, key, value, name) => {
    const [c, width, height] = sized(at(id));
    const long = Math.max(20 * span(), Math.min(2, now)), begin = Math.max(0, run.first, now - long);
    const shown = rows.slice(0, from(rows, now + 1e-9)), x = (t) => 34 + ((t - begin) / Math.max(now - begin, 1e-9)) * (width - 44);
    const first = from(shown, begin), lines = new Map();
    // The last value before the interval holds at its beginning.
    for (let i = first - 1, steps = 0; i >= 0 && steps < 3000; i -= 1, steps += 1) if (!lines.has(key(shown[i]))) lines.set(key(shown[i]), [[begin, value(shown[i])]]);
    const thin = Math.max(1, Math.floor((shown.length - first) / 20000));
    for (let i = first; i < shown.length; i += thin) {
      const r = shown[i];
      if (!lines.has(key(r))) lines.set(key(r), []);
      lines.get(key(r)).push([r.time_s, value(r)]);
    }
    const top = (points) => points.reduce((most, p) => Math.max(most, p[1] ?? 0), 0);
    const kept = [...lines].filter(([, points]) => points.some((p) => p[1] !== null)).map(([k, points]) => [k, points, top(points)]).sort((a, b) => b[2] - a[2]).slice(0, 8).sort((a, b) => (a[0] < b[0] ? -1 : 1));
    const most = Math.max(1, ...kept.map((l) => l[2])), y = (v) => height - 18 - (v / most) * (height - 40);
    c.fillStyle = color("--line");
    c.globalAlpha = 0.4;
    c.fillRect(Math.max(34, x(now - 0.8 * span())), 16, Math.max(1, width - 10 - Math.max(34, x(now - 0.8 * span()))), height - 34);
    c.globalAlpha = 1;
    c.fillStyle = color("--ink");
    c.fillText(now > begin ? `${title}, last ${seconds(now - begin)}` : title, 34, 12);
    c.fillText(most.toPrecision(2) >= 100 ? most.toFixed(0) : String(Number(most.toPrecision(2))), 2, y(most) + 4);
    c.fillText("0", 4, y(0));
    const palette = dark.matches ? DARK_LINES : LIGHT_LINES;
    let beside = 34;
    kept.forEach(([k, points], i) => {
      c.strokeStyle = palette[i % palette.length];
      c.lineWidth = 1.5;
      c.setLineDash([[], [5, 3], [2, 2]][i % 3]);
      c.beginPath();
      points.forEach(([t, v], j) => { if (j) c.lineTo(x(t), y(points[j - 1][1])); else c.moveTo(x(t), y(v)); c.lineTo(x(t), y(v)); });
      c.lineTo(x(now), y(points[points.length - 1][1]));
      c.stroke();
      c.setLineDash([]);
      c.fillStyle = c.strokeStyle;
      c.fillText(name(k), beside, height - 4);
      beside += c.measureText(name(k)).width + 9;
    });
  };

  let curved = 0;
  const windows = () => {
    // They show seconds, and change little from picture to picture.
    if (playing && performance.now() - curved < 150) return;
    curved = performance.now();
    if (at("energy").hidden === run.energy.length > 0) at("energy").hidden = !run.energy.length;
    curves("windows", "congestion windows [segments]", run.cwnd, (r) => r.flow, (r) => r.cwnd_segments, (k) => `flow ${k}`);
    curves("queues", "queues [packets] of nodes", run.queue, (r) => (r.wired_dst === null ? `${label(r.node)}${run.several ? ` ch ${r.channel}` : ""}${CATEGORIES[r.access_category] || ""}` : `${label(r.node)}-${label(r.wired_dst)}`), (r) => r.packets, (k) => k);
    if (run.energy.length) curves("energy", "energy left [J] of nodes", run.energy, (r) => r.node, (r) => r.remaining_j, label);
  };

  const list = () => {
    const upto = from(run.events, now + 1e-9), events = run.events.slice(Math.max(0, upto - 40), upto).reverse();
    at("events").replaceChildren(...events.map((e) => {
      const item = document.createElement("li"), go = document.createElement("button");
      if (e.bad) item.className = "bad";
      go.type = "button";
      go.textContent = `${e.time_s.toFixed(6)} s  ${e.text}`;
      go.addEventListener("click", () => { pause(); seek(e.time_s); });
      item.append(go);
      return item;
    }));
  };

  const setText = (id, text) => { if (at(id).textContent !== text) at(id).textContent = text; };

  const draw = () => {
    lanes();
    map();
    windows();
    if (!playing) list();
    setText("now", `${now.toFixed(6)} s`);
    setText("span-text", seconds(span()));
    setText("speed-text", `${seconds(speed())} a second`);
    const end = run.about.end_ns ? run.about.end_ns / 1e9 : Math.max(data.simulated_s, run.sim);
    const clock = String(Math.round((1000 * now) / end));
    if (at("clock").value !== clock) at("clock").value = clock;
  };

  const say = (text) => { at("story").textContent = text; };

  // The receivers of a frame by what became of it there.
  const receivers = (f) => {
    const rows = run.heard.slice(from(run.heard, f.time_s - 1e-9), from(run.heard, f.time_s + 1e-9)).filter((h) => h.src === f.src && h.channel === f.channel);
    const parts = ["decoded", "collided", "damaged", "sensed", "noise"].map((verdict) => [verdict, rows.filter((h) => h.verdict === verdict).map((h) => label(h.node))]);
    return parts.filter((p) => p[1].length).map(([verdict, nodes]) => `${verdict} at ${nodes.join(", ")}`).join("; ");
  };

  const story = (f) => {
    const box = at("story"), head = document.createElement("p"), way = document.createElement("ol");
    const fate = f.outcome === null ? "on the air at the end" : words(f.outcome);
    head.textContent = f.channel === null
      ? `A packet of ${f.bytes} B over the wire from node ${label(f.src)} to node ${label(f.dst)}, ${f.time_s.toFixed(6)} s to ${f.end_s.toFixed(6)} s.`
      : `${f.frame_type} of node ${label(f.src)} to ${f.dst === null ? "all" : "node " + label(f.dst)}, ${f.bytes} B${f.mpdus > 1 ? ` in ${f.mpdus} MPDUs` : ""} at ${f.rate_bps / 1e6} Mbit/s, ${f.time_s.toFixed(6)} s to ${f.end_s.toFixed(6)} s${f.retry ? ", a repetition" : ""}: ${fate}${f.lost ? ` at node ${f.dst}` : ""}. By node: ${receivers(f) || "nobody was locked on it"}.`;
    if (f.lost) {
      const near = run.frames.slice(from(run.frames, f.time_s - run.long), from(run.frames, f.end_s));
      const others = near.filter((g) => g !== f && g.end_s > f.time_s && g.channel === f.channel);
      if (others.length) head.textContent += ` On the air at the same time: ${others.map((g) => `${g.frame_type} of node ${label(g.src)}`).join(", ")}.`;
    }
    for (const r of (f.packet === null ? [] : run.ways.get(f.packet) || [])) {
      const item = document.createElement("li"), go = document.createElement("button");
      go.type = "button";
      go.textContent = r.event === "dropped" ? `${r.time_s.toFixed(6)} s  ${told.dropped(r)}` : `${r.time_s.toFixed(6)} s  packet ${r.packet} ${r.event} at node ${label(r.node)}${r.next_hop === null ? "" : ", next hop " + r.next_hop}`;
      go.addEventListener("click", () => seek(r.time_s));
      item.append(go);
      way.append(item);
    }
    way.className = "events";
    box.replaceChildren(head, ...(way.children.length ? [way] : []));
  };

  const chooseFrame = (f) => { chosen = f; pause(); story(f); draw(); };

  // ---- playing ----

  let before = 0;
  const pause = () => { playing = false; at("play").textContent = "Play"; };
  const play = () => {
    playing = true;
    at("play").textContent = "Pause";
    before = performance.now();
    requestAnimationFrame(picture);
  };
  // Advances by a time, and draws.
  const advance = async (passed_s) => {
    const next = now + passed_s;
    if (!(await reach(next + AHEAD))) return;
    now = run.ended ? Math.min(next, run.sim) : next;
    if (run.ended && now >= run.sim) pause();
    draw();
  };
  const picture = async (at_ms) => {
    if (!playing) return;
    // On a busy machine the run is played slower, not in jumps.
    const passed = Math.min(at_ms - before, 34) / 1000;
    before = at_ms;
    await advance(Math.max(passed, 0) * speed());
    if (!playing) list();
    requestAnimationFrame(picture);
  };

  // ---- another run ----

  // Runs to the end in another copy of the module; null if it is not wanted any more.
  const whole = async (request, said, each = () => {}, wanted = () => true) => {
    const own = await core();
    if (!wanted()) return null;
    own.ask(request);
    for (let state = { ended: false }; !state.ended;) {
      if (!wanted()) return null;
      state = own.ask({ until: null, steps: 100000 });
      each(own);
      said.textContent = `${(100 * state.progress).toFixed(0)} %`;
      await new Promise((r) => setTimeout(r));
    }
    return own;
  };

  // Only the last of several runs writes its result.
  let reruns = 0;
  const rerun = async (changes) => {
    const said = at("said"), mine = ++reruns, wanted = () => mine === reruns;
    delete document.body.dataset.checked;
    try {
      const own = await whole(opening(changes), said, undefined, wanted), differ = [], hashes = {};
      if (!own) return;
      window.chappe.hashes = hashes;
      table(JSON.parse(own.text({ table: "flows" })));
      for (const name of Object.keys(data.tables)) {
        hashes[name] = own.ask({ sha256: name }).sha256;
        if (hashes[name] !== data.tables[name]) differ.push(name);
      }
      const names = Object.keys(hashes).join(", "), changed = Object.entries(changes).map(([k, v]) => `${k} = ${v.startsWith('"') ? JSON.parse(v) : v}`).join(", ");
      if (!differ.length) said.textContent = `Equal to the byte to the run that was measured: ${names}.`;
      else if (changed) said.textContent = `With ${changed}. Other than measured: ${differ.join(", ")}.`;
      else said.textContent = `Other than measured, although nothing is changed: ${differ.join(", ")}.`;
      document.body.dataset.checked = differ.length ? "differs" : "equal";
    } catch (e) {
      if (wanted()) said.textContent = e.message;
    }
  };

  // Settings of the sliders that are not as measured.
  const slid = () => {
    const moved = [...document.querySelectorAll("input.slider")].filter((s) => s.value !== s.dataset.measured);
    return Object.fromEntries(moved.map((s) => [s.dataset.name, s.value]));
  };

  // A run with a capture of one node, which the browser saves as a file.
  const capture = async (n) => {
    const said = at("said"), parts = [];
    try {
      const own = await whole(opening({}, `, "captured": ${n}`), said, (c) => parts.push(c.bytes({ capture: 1 })));
      parts.push(own.bytes({ capture: 1 }));
    } catch (e) {
      said.textContent = e.message;
      return;
    }
    const link = document.createElement("a"), url = URL.createObjectURL(new Blob(parts, { type: "application/x-pcapng" }));
    link.href = url;
    link.download = label(n) === String(n) ? `node-${n}.pcapng` : `node-${n}-${label(n)}.pcapng`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    said.textContent = `The capture of node ${label(n)} has ${parts.reduce((sum, p) => sum + p.length, 0).toLocaleString("en")} B.`;
  };

  const table = (flows) => {
    const tcp = flows.transport.some((word) => word !== "udp");
    const head = ["flow", "src", "dst", "goodput here", "measured", ...(tcp ? ["retransmissions", "timeouts"] : [])];
    const made = document.createElement("table"), rows = [head];
    flows.flow.forEach((n, i) => rows.push([n, flows.src[i], flows.dst[i], `${(flows.goodput_bps[i] / 1e3).toPrecision(4)} kbit/s`, data.goodput[i] === undefined ? "-" : `${(data.goodput[i] / 1e3).toPrecision(4)} kbit/s`, ...(tcp ? [flows.retransmissions[i] ?? "-", flows.timeouts[i] ?? "-"] : [])]));
    rows.forEach((cells, i) => {
      const row = made.insertRow();
      for (const cell of cells) {
        const box = document.createElement(i ? "td" : "th");
        box.textContent = String(cell);
        row.append(box);
      }
    });
    at("result").replaceChildren(made);
  };

  // Another run of the scenario in the player, from its beginning.
  const show = async (changes) => {
    pause();
    const mine = ++aims;
    open(texts(changes));
    chosen = node = null;
    at("story").replaceChildren();
    list_nodes();
    if (!(await reach(data.begin_s + AHEAD, -Infinity, mine))) return;
    now = data.begin_s;
    draw();
  };

  const list_nodes = () => {
    const numbers = new Set(run.lanes.map((l) => l.n));
    at("node").replaceChildren(new Option("no node", ""), ...[...numbers].map((n) => new Option(`node ${label(n)}`, String(n))));
  };

  // Typed text as JSON: a number, a list or a word.
  const value = (text) => { try { JSON.parse(text); return text; } catch { return JSON.stringify(text); } };

  // ---- beginning ----

  const begin = async () => {
    module = await WebAssembly.compile(await simulator.unpacked());
    run.core = await core();
    open();
    if (run.about.epoch !== data.epoch) say(`The module in this page has results epoch ${run.about.epoch}, the run ${data.epoch}.`);
    document.body.classList.add("running");
    await reach(data.begin_s + AHEAD);
    now = data.begin_s;
    draw();
    at("play").addEventListener("click", () => (playing ? pause() : play()));
    for (const button of document.querySelectorAll("button.step")) button.addEventListener("click", () => step(button.dataset.kind, Number(button.dataset.to)));
    at("clock").addEventListener("input", () => {
      pause();
      const end = run.about.end_ns ? run.about.end_ns / 1e9 : data.simulated_s;
      seek((Number(at("clock").value) / 1000) * end);
    });
    for (const id of ["span", "speed"]) at(id).addEventListener("input", draw);
    at("lanes").addEventListener("click", (e) => {
      const x = e.offsetX, y = e.offsetY;
      const hit = drawn.find(([left, top, w, h]) => x >= left - 2 && x <= left + w + 2 && y >= top && y <= top + h);
      if (hit) chooseFrame(hit[4]);
    });
    // Up and down choose among the frames that are shown, in the order of their times.
    at("lanes").addEventListener("keydown", (e) => {
      const to = { ArrowUp: -1, ArrowDown: 1 }[e.key], shown = drawn.map((d) => d[4]).sort((a, b) => a.time_s - b.time_s);
      if (!to || !shown.length) return;
      e.preventDefault();
      const begun = Math.max(0, from(shown, now + 1e-9) - 1), index = shown.indexOf(chosen);
      chooseFrame(shown[index < 0 ? begun : Math.min(Math.max(index + to, 0), shown.length - 1)]);
    });
    at("again").addEventListener("click", () => rerun({ ...slid(), [at("name").value]: value(at("value").value) }));
    at("check").addEventListener("click", () => rerun({}));
    for (const slider of document.querySelectorAll("input.slider")) {
      slider.addEventListener("input", () => { slider.nextElementSibling.textContent = slider.value; });
      slider.addEventListener("change", () => rerun(slid()));
    }
    const nodes = at("node");
    list_nodes();
    const choose = (n) => { node = n; nodes.value = n === null ? "" : String(n); map(); };
    nodes.addEventListener("change", () => choose(nodes.value === "" ? null : Number(nodes.value)));
    const nearest = (e) => {
      const [far, n] = places.reduce((best, [x, y, k]) => { const d = Math.hypot(x - e.offsetX, y - e.offsetY); return d < best[0] ? [d, k] : best; }, [22, null]);
      return far < 22 ? n : null;
    };
    let pinned = null;
    at("place").addEventListener("keydown", (e) => {
      const to = { ArrowUp: -1, ArrowDown: 1 }[e.key], all = [...nodes.options].slice(1).map((o) => Number(o.value));
      if (!to || !all.length) return;
      e.preventDefault();
      pinned = node === null ? all[to > 0 ? 0 : all.length - 1] : all[Math.min(Math.max(all.indexOf(node) + to, 0), all.length - 1)];
      choose(pinned);
    });
    at("place").addEventListener("click", (e) => { pinned = nearest(e); choose(pinned); });
    at("place").addEventListener("mousemove", (e) => { if (!playing && nearest(e) !== node) choose(nearest(e) ?? pinned); });
    at("capture").addEventListener("click", () => capture(node ?? 0));
    document.addEventListener("keydown", (e) => {
      // Keys that mean something to the browser, or to what is focused, stay theirs.
      if (e.ctrlKey || e.metaKey || e.altKey || /INPUT|SELECT|TEXTAREA/.test(e.target.tagName)) return;
      if (e.key === " " ? e.shiftKey || /^(BUTTON|SUMMARY|A)$/.test(e.target.tagName) : e.key.startsWith("Arrow") && e.target.closest(".scroll, .events, pre")) return;
      const to = e.shiftKey ? -1 : 1, kinds = { c: "collision", d: "drop", t: "timeout", r: "route" };
      if (e.key === " ") { e.preventDefault(); playing ? pause() : play(); }
      else if (e.key === "ArrowRight") step("frame", 1);
      else if (e.key === "ArrowLeft") step("frame", -1);
      else if (kinds[e.key.toLowerCase()]) step(kinds[e.key.toLowerCase()], to);
    });
    document.body.dataset.ready = performance.now().toFixed(0);
    window.chappe = { run, step, seek, advance, show, whole: (changes, said) => whole(opening(texts(changes)), said), time: () => now };
    document.dispatchEvent(new Event("chappe"));
  };
  begin().catch((e) => { document.body.classList.add("running"); at("said").textContent = `The simulator does not run in this browser: ${e.message}`; });
})();
