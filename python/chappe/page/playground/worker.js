// Checks and runs scenarios beside the page.
(() => {
  let core = null, made = null;
  const tables = (run) => Object.fromEntries(["batches", "flow_batches", "flows"].map((name) => [name, run.ask({ table: name })]));

  const check = (text) => core.ask({ toml: text });

  const run = ({ text, seeds, checked }) => {
    const runs = [];
    let first = null;
    for (let k = 0; k < seeds; k += 1) {
      const changes = k ? `{"run.seed": ${BigInt(first.about.seed) + BigInt(k)}}` : "{}";
      const about = core.ask(`{"toml": ${JSON.stringify(text)}, "changes": ${changes}}`);
      let state = { ended: false, progress: 0 };
      while (!state.ended) {
        state = core.ask({ until: null, steps: 200000 });
        postMessage({ progress: (k + state.progress) / seeds });
      }
      const found = tables(core);
      if (!first) {
        const hashes = Object.fromEntries(checked.map((name) => [name, core.ask({ sha256: name }).sha256]));
        first = { about, flows: found.flows, hashes, simulated_s: state.now_ns / 1e9 };
      }
      runs.push(statistics.totals(found.batches, found.flow_batches));
    }
    return { first, runs };
  };

  addEventListener("message", async ({ data }) => {
    try {
      if (data.module) made = WebAssembly.instantiate(data.module, {});
      core ??= new simulator.Core((await made).instance.exports);
      if (data.module) return;
      if (data.check !== undefined) postMessage({ checked: check(data.check), text: data.check });
      else postMessage({ result: run(data.run) });
    } catch (e) {
      postMessage({ error: e.message, text: data.check });
    }
  });
})();
