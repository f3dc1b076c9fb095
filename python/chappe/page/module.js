"use strict";
// The simulator as a WebAssembly module: requests and answers in JSON, and the module as it lies in a page.
const simulator = (() => {
  class Core {
    constructor(exports) { this.x = exports; }
    text(request) { return new TextDecoder().decode(this.bytes(request)); }
    bytes(request) {
      const bytes = new TextEncoder().encode(typeof request === "string" ? request : JSON.stringify(request));
      // The memory may grow in `room`, which leaves views of the former one empty.
      const place = this.x.room(bytes.length);
      new Uint8Array(this.x.memory.buffer, place, bytes.length).set(bytes);
      const length = this.x.ask();
      return new Uint8Array(this.x.memory.buffer, this.x.answer(), length).slice();
    }
    ask(request) {
      const answer = JSON.parse(this.text(request));
      if (answer.error) throw new Error(answer.error);
      return answer;
    }
  }

  // Bytes that are written in base 85: five digits for four bytes, fewer for the last ones.
  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";
  const bytesOf = (text) => {
    const values = new Uint8Array(128).fill(84);
    [...DIGITS].forEach((digit, value) => { values[digit.charCodeAt(0)] = value; });
    const groups = Math.ceil(text.length / 5);
    const padded = text.padEnd(5 * groups, "~");
    const bytes = new DataView(new ArrayBuffer(4 * groups));
    for (let g = 0; g < groups; g += 1) {
      let number = 0;
      for (let i = 5 * g; i < 5 * g + 5; i += 1) number = number * 85 + values[padded.charCodeAt(i)];
      bytes.setUint32(4 * g, number);
    }
    return bytes.buffer.slice(0, 4 * groups - (padded.length - text.length));
  };

  // The module as a page contains it, unpacked.
  const unpacked = async () => {
    const unpacker = new Blob([bytesOf(document.getElementById("unpacker").textContent)]).stream().pipeThrough(new DecompressionStream("gzip"));
    const x = (await WebAssembly.instantiate(await new Response(unpacker).arrayBuffer(), {})).instance.exports;
    const packed = new Uint8Array(bytesOf(document.getElementById("module").textContent));
    const place = x.room(packed.length);
    new Uint8Array(x.memory.buffer, place, packed.length).set(packed);
    const length = x.unpack();
    return new Uint8Array(x.memory.buffer, x.unpacked(), length).slice();
  };
  return { Core, unpacked };
})();
