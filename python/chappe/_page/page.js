"use strict";
// The player of a run: the simulator is a WebAssembly module in this page, driven by requests in JSON.
(() => {
  const at = (id) => document.getElementById(id);
  const data = JSON.parse(at("data").textContent);
  const RECORD = ["frames", "packets", "cwnd", "queue", "routes", "positions"];
  const LOST = ["hidden_terminal", "same_slot", "captured", "transmitting", "damaged", "switched_off"];
  const LETTER = { rts: "R", cts: "C", data: "D", ack: "A" };
  const COLOUR = { rts: "#8c6d31", cts: "#5a7d2b", data: "#0b5fa5", ack: "#2a7f62" };
  const LINES = ["#0b5fa5", "#b3261e", "#2a7f62", "#8c6d31", "#6b3fa0", "#555555"];
  const KEPT = 60000, AHEAD = 0.05, MARKS = 64;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  class Core {
    constructor(exports) { this.x = exports; }
    text(request) {
      const bytes = new TextEncoder().encode(JSON.stringify(request));
      // The memory may grow in `room`, which leaves views of the former one empty.
      const place = this.x.room(bytes.length);
      new Uint8Array(this.x.memory.buffer, place, bytes.length).set(bytes);
      const length = this.x.ask();
      return new TextDecoder().decode(new Uint8Array(this.x.memory.buffer, this.x.answer(), length));
    }
    ask(request) {
      const answer = JSON.parse(this.text(request));
      if (answer.error) throw new Error(answer.error);
      return answer;
    }
  }

  let module = null;
  const compiled = async () => {
    const packed = Uint8Array.from(atob(at("module").textContent.trim()), (c) => c.charCodeAt(0));
    const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(plain).arrayBuffer());
  };
  const core = async () => new Core((await WebAssembly.instantiate(module, {})).exports);

  // ---- the run that is looked at ----

  const run = { core: null, about: null, sim: 0, sim_ns: 0, ended: false, frames: [], events: [], cwnd: [], queue: [], moves: [], ways: new Map(), marks: [], step: 1, first: 0 };
  let now = 0, playing = false, chosen = null, drawn = [];

  const rowsOf = (columns) => {
    const names = Object.keys(columns);
    return names.length ? columns[names[0]].map((_, i) => Object.fromEntries(names.map((n) => [n, columns[n][i]]))) : [];
  };

  const clear = (from) => {
    for (const name of ["frames", "events", "cwnd", "queue"]) run[name] = [];
    run.ways = new Map();
    run.first = from;
  };

  const told = {
    dropped: (r) => `packet ${r.packet} is dropped at node ${r.node}: ${(r.drop_reason || "").replaceAll("_", " ")}${r.retry_cause ? ", " + r.retry_cause.replaceAll("_", " ") : ""}`,
  };

  const take = () => {
    const rows = run.core.ask({ rows: RECORD });
    for (const r of rowsOf(rows.frames || {})) {
      r.end_s = r.time_s + r.airtime_s;
      r.lost = LOST.includes(r.outcome) || r.outcome === "out_of_range";
      run.frames.push(r);
      if (LOST.slice(0, 3).includes(r.outcome)) run.events.push({ time_s: r.time_s, kind: "collision", bad: true, text: `${r.frame_type} of node ${r.src} to node ${r.dst} is lost: ${r.outcome.replaceAll("_", " ")}` });
    }
    for (const r of rowsOf(rows.packets || {})) {
      if (!run.ways.has(r.packet)) run.ways.set(r.packet, []);
      run.ways.get(r.packet).push(r);
      if (r.event === "dropped") run.events.push({ time_s: r.time_s, kind: "drop", bad: true, text: told.dropped(r) });
      else if (r.event === "delivered" && r.node === r.dst) run.events.push({ time_s: r.time_s, kind: "delivered", text: `packet ${r.packet} (${r.packet_type.replaceAll("_", " ")} ${r.sequence}) is delivered at node ${r.node}` });
    }
    for (const r of rowsOf(rows.cwnd || {})) {
      run.cwnd.push(r);
      if (r.event === "timeout") run.events.push({ time_s: r.time_s, kind: "timeout", bad: true, text: `the timer of flow ${r.flow} expires, the next timeout after ${r.rto_s.toPrecision(3)} s` });
      if (r.event === "fast_retransmit") run.events.push({ time_s: r.time_s, kind: "repair", text: `flow ${r.flow} retransmits after duplicate acknowledgements` });
    }
    for (const r of rowsOf(rows.queue || {})) run.queue.push(r);
    for (const r of rowsOf(rows.routes || {})) if (r.event === "removed") run.events.push({ time_s: r.time_s, kind: "route", bad: true, text: `node ${r.node} loses its route to node ${r.dst}` });
    for (const r of rowsOf(rows.positions || {})) run.moves.push(r);
    if (run.frames.length > KEPT) {
      const cut = run.frames[run.frames.length - KEPT / 2].time_s;
      for (const name of ["frames", "events", "cwnd", "queue"]) run[name] = run[name].filter((r) => r.time_s >= cut);
      for (const [packet, way] of run.ways) if (way[way.length - 1].time_s < cut) run.ways.delete(packet);
      run.first = Math.max(run.first, cut);
    }
    run.frames.sort((a, b) => a.time_s - b.time_s);
    run.events.sort((a, b) => a.time_s - b.time_s);
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

  const open = (settings, changes) => {
    run.about = run.core.ask({ open: settings, changes: { ...changes, "run.record": RECORD } });
    Object.assign(run, { sim: 0, sim_ns: 0, ended: false, marks: [], step: 1, moves: [] });
    clear(0);
    mark();
  };

  // Advances the run until it knows everything up to this time, in slices, so that the page stays alive.
  const reach = async (time_s, slice = 12) => {
    // In whole nanoseconds, as the simulator counts: an instant between two of them is never reached.
    const target_ns = Math.round(time_s * 1e9);
    let begun = performance.now();
    while (!run.ended && run.sim_ns < target_ns) {
      const upto_ns = Math.min(target_ns, run.sim_ns + Math.round(run.step * 1e9));
      const state = run.core.ask({ until: upto_ns, steps: 200000 });
      run.sim_ns = state.now_ns;
      run.sim = state.now_ns / 1e9;
      run.ended = state.ended;
      take();
      mark();
      if (performance.now() - begun > slice) {
        await new Promise((r) => setTimeout(r));
        begun = performance.now();
      }
    }
  };

  const seek = async (time_s) => {
    const from = Math.max(0, time_s - 2 * span());
    if (from < run.first) {
      const m = run.marks.filter((k) => k.time_s <= from).pop() || run.marks[0];
      run.core.ask({ back: m.id });
      run.sim = m.time_s;
      run.sim_ns = m.at_ns;
      run.ended = false;
      clear(m.time_s);
    }
    await reach(time_s + AHEAD);
    now = run.ended ? Math.min(time_s, run.sim) : time_s;
    draw();
  };

  // ---- steps ----

  const of = (kind) => (kind === "frame" ? run.frames : run.events.filter((e) => e.kind === kind));

  const step = async (kind, to) => {
    pause();
    const eps = 1e-9;
    for (let tries = 0; tries < 4000; tries += 1) {
      const known = of(kind);
      const found = to > 0 ? known.find((r) => r.time_s > now + eps) : known.filter((r) => r.time_s < now - eps).pop();
      if (found) return seek(found.time_s);
      if (to > 0) {
        if (run.ended) return say(`no further ${kind}`);
        await reach(run.sim + Math.max(0.1, span()));
      } else {
        if (run.first <= 0) return say(`no earlier ${kind}`);
        const then = now;
        await seek(Math.max(0, run.first - run.step));
        await reach(then);
        now = then;
      }
    }
    return say(`no ${kind} found`);
  };

  // ---- drawing ----

  const span = () => 10 ** Number(at("span").value);
  const speed = () => 10 ** Number(at("speed").value);
  const seconds = (x) => (x >= 1 ? `${x.toPrecision(3)} s` : x >= 1e-3 ? `${(x * 1e3).toPrecision(3)} ms` : `${(x * 1e6).toPrecision(3)} us`);

  const sized = (canvas) => {
    const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
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

  const lanes = () => {
    const begin = now - 0.8 * span(), end = begin + span();
    const shown = run.frames.filter((f) => f.end_s >= begin && f.time_s <= end);
    const all = run.about.x_m.length;
    const active = all <= 30 ? [...Array(all).keys()] : [...new Set(shown.flatMap((f) => (f.dst === null ? [f.src] : [f.src, f.dst])))].sort((a, b) => a - b).slice(0, 40);
    const canvas = at("lanes");
    canvas.style.height = `${Math.max(120, 22 * Math.max(active.length, 1) + 22)}px`;
    const [c, width, height] = sized(canvas);
    const left = 52, x = (t) => left + ((t - begin) / (end - begin)) * (width - left - 6);
    const y = new Map(active.map((n, i) => [n, 4 + 22 * i]));
    c.fillStyle = colour("--ink");
    for (const [n, top] of y) {
      c.fillStyle = colour("--ink");
      c.fillText(`node ${n}`, 4, top + 14);
      c.fillStyle = colour("--line");
      c.fillRect(left, top + 19, width - left, 1);
    }
    drawn = [];
    for (const f of shown) {
      const top = y.get(f.src), x0 = Math.max(x(f.time_s), left), w = Math.max(x(f.end_s) - x0, 1.5);
      if (top === undefined) continue;
      c.globalAlpha = f.time_s > now ? 0.25 : 1;
      c.fillStyle = f.dst === null ? "#6b3fa0" : COLOUR[f.frame_type];
      c.fillRect(x0, top, w, 17);
      drawn.push([x0, top, Math.max(w, 4), 17, f]);
      const below = f.dst === null ? undefined : y.get(f.dst);
      if (below !== undefined) c.fillRect(x0, below + 14, w, 3);
      if (f.lost) {
        c.strokeStyle = colour("--bad");
        c.lineWidth = 2;
        c.beginPath();
        c.moveTo(x0, top); c.lineTo(x0 + w, top + 17); c.moveTo(x0, top + 17); c.lineTo(x0 + w, top);
        c.stroke();
        c.strokeRect(x0, top, w, 17);
      }
      if (w > 10) {
        c.fillStyle = "#ffffff";
        c.fillText(f.dst === null ? "B" : LETTER[f.frame_type], x0 + 3, top + 13);
      }
      if (chosen === f) {
        c.strokeStyle = colour("--ink");
        c.lineWidth = 2;
        c.strokeRect(x0 - 1, top - 1, w + 2, 19);
      }
      c.globalAlpha = 1;
    }
    c.fillStyle = colour("--accent");
    c.fillRect(x(now), 0, 1.5, height);
    c.fillText(seconds(span()), width - 60, height - 5);
  };

  const placed = () => {
    const places = run.about.x_m.map((x, i) => [x, run.about.y_m[i]]);
    for (const m of run.moves) {
      if (m.time_s > now) continue;
      const far = Math.hypot(m.dest_x_m - m.x_m, m.dest_y_m - m.y_m), gone = m.speed_mps * (now - m.time_s);
      const share = far > 0 && gone < far ? gone / far : far > 0 && m.speed_mps > 0 ? 1 : 0;
      places[m.node] = [m.x_m + share * (m.dest_x_m - m.x_m), m.y_m + share * (m.dest_y_m - m.y_m)];
    }
    return places;
  };

  const map = () => {
    const [c, width, height] = sized(at("place"));
    const places = placed();
    if (!places.length) return;
    const xs = places.map((p) => p[0]), ys = places.map((p) => p[1]);
    const x0 = Math.min(...xs), y0 = Math.min(...ys), wide = Math.max(Math.max(...xs) - x0, 1), high = Math.max(Math.max(...ys) - y0, 1);
    const scale = Math.min((width - 50) / wide, (height - 50) / high);
    const to = (p) => [25 + (p[0] - x0) * scale + (width - 50 - wide * scale) / 2, 25 + (p[1] - y0) * scale + (height - 50 - high * scale) / 2];
    const sending = new Map(run.frames.filter((f) => f.time_s <= now && f.end_s > now).map((f) => [f.src, f]));
    const heard = new Map();
    // The links are those at the beginning.
    const still = !run.moves.some((m) => m.speed_mps > 0);
    if (still) for (const [from, target] of run.about.links) if (sending.has(from)) heard.set(target, (heard.get(target) || 0) + 1);
    c.strokeStyle = colour("--line");
    if (still && run.about.links.length < 4000) {
      c.beginPath();
      for (const [a, b] of run.about.links) { c.moveTo(...to(places[a])); c.lineTo(...to(places[b])); }
      c.stroke();
    }
    for (const f of sending.values()) {
      if (f.dst === null) continue;
      c.strokeStyle = f.lost ? colour("--bad") : COLOUR[f.frame_type];
      c.lineWidth = 3;
      c.setLineDash(f.lost ? [5, 4] : []);
      c.beginPath(); c.moveTo(...to(places[f.src])); c.lineTo(...to(places[f.dst])); c.stroke();
      c.setLineDash([]);
    }
    c.lineWidth = 1;
    const last = new Map(run.queue.filter((q) => q.time_s <= now).map((q) => [q.node, q.packets]));
    places.forEach((p, n) => {
      const [x, y] = to(p), r = places.length > 60 ? 4 : 9, hears = heard.get(n) || 0;
      c.beginPath();
      c.arc(x, y, r, 0, 2 * Math.PI);
      c.fillStyle = sending.has(n) ? COLOUR[sending.get(n).frame_type] : hears > 1 ? colour("--bad") : hears ? "#9cc7ee" : colour("--paper");
      c.fill();
      c.strokeStyle = colour("--ink");
      c.stroke();
      c.fillStyle = colour("--ink");
      if (places.length <= 60) c.fillText(String(n), x + r + 2, y - r);
      if (last.get(n)) c.fillText(`q ${last.get(n)}`, x + r + 2, y + r + 6);
    });
  };

  const windows = () => {
    const [c, width, height] = sized(at("windows"));
    const begin = Math.max(run.first, now - Math.max(20 * span(), 2)), rows = run.cwnd.filter((r) => r.time_s >= begin && r.time_s <= now);
    const most = Math.max(4, ...rows.map((r) => r.cwnd_segments)), x = (t) => 34 + ((t - begin) / Math.max(now - begin, 1e-9)) * (width - 44);
    const y = (v) => height - 18 - (v / most) * (height - 40);
    c.fillStyle = colour("--ink");
    c.fillText(`congestion windows [segments], last ${seconds(Math.max(now - begin, 1e-9))}`, 34, 12);
    c.fillText(most.toFixed(0), 4, y(most) + 4);
    c.fillText("0", 4, y(0));
    const flows = [...new Set(rows.map((r) => r.flow))];
    flows.forEach((flow, i) => {
      c.strokeStyle = LINES[i % LINES.length];
      c.beginPath();
      let before = null;
      for (const r of rows) {
        if (r.flow !== flow) continue;
        if (before !== null) c.lineTo(x(r.time_s), y(before));
        else c.moveTo(x(r.time_s), y(r.cwnd_segments));
        c.lineTo(x(r.time_s), y(r.cwnd_segments));
        before = r.cwnd_segments;
      }
      if (before !== null) c.lineTo(x(now), y(before));
      c.stroke();
      c.fillStyle = c.strokeStyle;
      if (i < 8) c.fillText(`flow ${flow}`, 34 + 52 * i, height - 4);
    });
  };

  const list = () => {
    const events = run.events.filter((e) => e.time_s <= now).slice(-40).reverse();
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

  const draw = () => {
    lanes();
    map();
    windows();
    if (!playing) list();
    at("now").textContent = `${now.toFixed(6)} s`;
    at("span-text").textContent = seconds(span());
    at("speed-text").textContent = `${seconds(speed())} a second`;
    const end = run.about.end_ns ? run.about.end_ns / 1e9 : Math.max(data.simulated_s, run.sim);
    at("clock").value = String(Math.round((1000 * now) / end));
  };

  const say = (text) => { at("story").textContent = text; };

  const story = (f) => {
    const box = at("story"), head = document.createElement("p"), way = document.createElement("ol");
    const fate = f.outcome === null ? "on the air at the end" : f.outcome.replaceAll("_", " ");
    head.textContent = `${f.frame_type} of node ${f.src} to ${f.dst === null ? "all" : "node " + f.dst}, ${f.bytes} B at ${f.rate_bps / 1e6} Mbit/s, ${f.time_s.toFixed(6)} s to ${f.end_s.toFixed(6)} s${f.retry ? ", a repetition" : ""}: ${fate}.`;
    if (f.lost) {
      const others = run.frames.filter((g) => g !== f && g.time_s < f.end_s && g.end_s > f.time_s && g.src !== f.dst);
      if (others.length) head.textContent += ` On the air at the same time: ${others.map((g) => `${g.frame_type} of node ${g.src}`).join(", ")}.`;
    }
    for (const r of (f.packet === null ? [] : run.ways.get(f.packet) || [])) {
      const item = document.createElement("li"), go = document.createElement("button");
      go.type = "button";
      go.textContent = r.event === "dropped" ? `${r.time_s.toFixed(6)} s  ${told.dropped(r)}` : `${r.time_s.toFixed(6)} s  packet ${r.packet} ${r.event} at node ${r.node}${r.next_hop === null ? "" : ", next hop " + r.next_hop}`;
      go.addEventListener("click", () => seek(r.time_s));
      item.append(go);
      way.append(item);
    }
    way.className = "events";
    box.replaceChildren(head, ...(way.children.length ? [way] : []));
  };

  // ---- playing ----

  let before = 0;
  const pause = () => { playing = false; at("play").textContent = "Play"; };
  const play = () => {
    playing = true;
    at("play").textContent = "Pause";
    before = performance.now();
    requestAnimationFrame(picture);
  };
  const picture = async (at_ms) => {
    if (!playing) return;
    const passed = Math.min(at_ms - before, 100) / 1000;
    before = at_ms;
    const next = now + Math.max(passed, 0) * speed();
    await reach(next + AHEAD);
    now = run.ended ? Math.min(next, run.sim) : next;
    if (run.ended && now >= run.sim) pause();
    draw();
    if (!playing) list();
    requestAnimationFrame(picture);
  };

  // ---- another run ----

  const hex = async (text) => [...new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))].map((b) => b.toString(16).padStart(2, "0")).join("");

  const rerun = async (changes, compare) => {
    const said = at("said");
    try {
      const own = await core();
      own.ask({ open: data.settings, changes });
      for (let state = { ended: false }; !state.ended;) {
        state = own.ask({ until: null, steps: 100000 });
        said.textContent = `${(100 * state.progress).toFixed(0)} %`;
        await new Promise((r) => setTimeout(r));
      }
      const tables = Object.fromEntries(Object.keys(data.tables).map((name) => [name, own.text({ table: name })]));
      table(JSON.parse(own.text({ table: "flows" })));
      if (!compare) { said.textContent = `Run with ${Object.entries(changes).map(([k, v]) => `${k} = ${v}`).join(", ")}.`; return; }
      const differ = [];
      for (const [name, text] of Object.entries(tables)) if ((await hex(text)) !== data.tables[name]) differ.push(name);
      said.textContent = differ.length ? `Other than measured: ${differ.join(", ")}.` : `Equal to the byte to the run that was measured: ${Object.keys(tables).join(", ")}.`;
      document.body.dataset.checked = differ.length ? "differs" : "equal";
    } catch (e) {
      said.textContent = e.message;
    }
  };

  const table = (flows) => {
    const head = ["flow", "src", "dst", "goodput here", "measured", "retransmissions", "timeouts"];
    const made = document.createElement("table"), rows = [head];
    flows.flow.forEach((n, i) => rows.push([n, flows.src[i], flows.dst[i], `${(flows.goodput_bps[i] / 1e3).toPrecision(4)} kbit/s`, data.goodput[i] === undefined ? "-" : `${(data.goodput[i] / 1e3).toPrecision(4)} kbit/s`, flows.retransmissions[i], flows.timeouts[i]]));
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

  const value = (text) => { try { return JSON.parse(text); } catch { return text; } };

  // ---- beginning ----

  const begin = async () => {
    module = await compiled();
    run.core = await core();
    open(data.settings, {});
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
      if (hit) { chosen = hit[4]; pause(); story(chosen); draw(); }
    });
    at("again").addEventListener("click", () => rerun({ [at("name").value]: value(at("value").value) }, false));
    at("check").addEventListener("click", () => rerun({}, true));
    document.addEventListener("keydown", (e) => {
      if (/INPUT|BUTTON|SELECT/.test(e.target.tagName) && e.key !== "Escape") return;
      const to = e.shiftKey ? -1 : 1, kinds = { c: "collision", d: "drop", t: "timeout", r: "route" };
      if (e.key === " ") { e.preventDefault(); playing ? pause() : play(); }
      else if (e.key === "ArrowRight") step("frame", 1);
      else if (e.key === "ArrowLeft") step("frame", -1);
      else if (kinds[e.key.toLowerCase()]) step(kinds[e.key.toLowerCase()], to);
    });
    window.addEventListener("resize", draw);
    document.body.dataset.ready = "1";
    window.chappe = { run, step, seek, time: () => now, rerun };
  };
  begin().catch((e) => { document.body.classList.add("running"); at("said").textContent = `The simulator does not run in this browser: ${e.message}`; });
})();
