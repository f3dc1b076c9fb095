"use strict";
// Toggles, tips, sorting and copying of a page of a study, which can be read without any of them.
for (const figure of document.querySelectorAll(".figure")) {
  const tip = figure.querySelector(".tip");
  for (const box of figure.querySelectorAll(".toggle")) {
    box.addEventListener("change", () => {
      for (const curve of figure.querySelectorAll(`.curve[data-group="${box.dataset.group}"]`)) {
        curve.classList.toggle("hidden", !box.checked);
      }
    });
  }
  const points = figure.querySelectorAll(".point");
  for (const point of points) {
    const text = point.querySelector("title").textContent;
    const tell = () => { tip.textContent = text; };
    point.addEventListener("pointerenter", tell);
    point.addEventListener("focus", tell);
    if (points.length <= 100) {
      point.setAttribute("tabindex", "0");
      point.setAttribute("role", "img");
      point.setAttribute("aria-label", text);
    }
  }
}

// Numbers are compared by the first one in a cell, words as words.
const key = (text) => {
  const found = text.replace(/,/g, "").match(/^\s*[-+]?(\d+\.?\d*|\.\d+)/);
  return found ? Number(found[0]) : NaN;
};
const order = (a, b) => {
  const [x, y] = [key(a), key(b)];
  if (Number.isNaN(x) && Number.isNaN(y)) return a < b ? -1 : a > b ? 1 : 0;
  if (Number.isNaN(x)) return 1;
  return Number.isNaN(y) ? -1 : x - y;
};

for (const sheet of document.querySelectorAll(".sheet")) {
  const body = sheet.querySelector("tbody");
  let rows = [...body.rows];
  const first = rows.length;
  const rest = sheet.querySelector("noscript");
  let all = rest === null;
  const more = document.createElement("button");
  // Rows of the text that stands for them: thousands of them would hold up the opening of the page.
  const complete = () => {
    if (rest === null || rows.length > first) return;
    const table = sheet.querySelector("table");
    // Widths of the rows that are there: to measure all of them takes seconds.
    const widths = [...table.rows[0].cells].map((cell) => cell.offsetWidth);
    table.style.width = `${table.offsetWidth}px`;
    table.style.tableLayout = "fixed";
    widths.forEach((width, n) => { table.rows[0].cells[n].style.width = `${width}px`; });
    const other = document.createElement("template");
    other.innerHTML = rest.textContent;
    rows.push(...other.content.querySelector("tbody").rows);
  };
  const show = () => body.replaceChildren(...(all ? rows : rows.slice(0, first)));
  if (!all) {
    more.type = "button";
    more.textContent = `Show all ${sheet.dataset.rows} rows`;
    more.addEventListener("click", () => {
      complete();
      all = true;
      show();
      more.remove();
    });
    sheet.append(more);
  }
  const heads = [...sheet.querySelectorAll("th")];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      complete();
      const keyed = rows.map((row) => [row.cells[column].textContent, row]);
      keyed.sort((a, b) => (up ? 1 : -1) * order(a[0], b[0]));
      rows = keyed.map((pair) => pair[1]);
      show();
    });
  });
  const copy = sheet.querySelector(".copy");
  const said = sheet.querySelector(".copied");
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    complete();
    const lines = [heads.map((head) => head.textContent), ...rows.map((row) => [...row.cells].map((c) => c.textContent))];
    const text = lines.map((cells) => cells.join("\t")).join("\n");
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      // Pages from the disk may have no clipboard: the selection has one.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    said.textContent = done ? `${rows.length} rows copied` : "Copying is not allowed here";
  });
}
document.body.dataset.ready = "1";
