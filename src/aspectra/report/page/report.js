// Draws the charts, and lists the segments that pass the filters. All text goes in as text, never as HTML.
"use strict";

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const ERRORS = 1;
const byId = (id) => document.getElementById(id);

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

// ast: expressions are interpreted, so that the page needs no eval and the security policy can forbid it.
async function drawCharts() {
  const charts = read("charts");
  const tooltip = { theme: "light" };
  const options = { actions: false, renderer: "svg", ast: true, logLevel: ERRORS, tooltip };
  const drawings = [...document.querySelectorAll(".panel")].map(async (panel) => {
    const spec = charts[panel.dataset.chart][Number(panel.dataset.panel)];
    const { view } = await window.vegaEmbed(panel, spec, options);
    view.addEventListener("click", (_, item) => showAspect(item?.datum?.name ?? item?.datum?.aspect));
    return view;
  });
  const views = await Promise.all(drawings);
  const resize = () => views.forEach((view) => view.signal("width", view.container().clientWidth).runAsync());
  window.addEventListener("beforeprint", resize);
  window.addEventListener("afterprint", resize);
  document.documentElement.dataset.ready = "true";
}

const PAGE = 20;
const evidence = read("evidence-data");
let shown = PAGE;

function said(pieces) {
  const line = make("p", "said");
  line.dir = "auto";
  const largest = Math.max(0.01, ...pieces.map(([, weight]) => weight ?? 0));
  for (const [text, weight] of pieces) {
    if (weight === null) {
      line.append(text);
      continue;
    }
    const word = make("mark", "", text);
    word.style.setProperty("--w", ((weight / largest) ** 3).toFixed(2));
    line.append(word);
  }
  return line;
}

function row(segment) {
  const item = make("li");
  const facts = make("p", "of");
  facts.style.margin = "0";
  facts.append(make("bdi", "aspect", evidence.aspects[segment.a]));
  const kind = evidence.kinds[segment.k];
  const details = [kind, `probability ${Math.round(100 * segment.p)} %`, segment.d, segment.r, segment.g];
  for (const detail of details.filter((value) => value !== null)) {
    facts.append(" · ", make("bdi", "", String(detail)));
  }
  item.append(said(segment.t), facts);
  return item;
}

function wanted() {
  const value = (id) => byId(id)?.value ?? "";
  const words = value("search").toLowerCase().split(/\s+/).filter(Boolean);
  const [aspect, kind, group] = [value("aspect"), value("kind"), value("group")];
  return evidence.segments.filter(
    (segment) =>
      (aspect === "" || segment.a === Number(aspect)) &&
      (kind === "" || segment.k === Number(kind)) &&
      (group === "" || segment.g === group) &&
      words.every((word) => segment.text.includes(word)),
  );
}

function list() {
  const found = wanted();
  byId("found").textContent = found.length === 1 ? "1 segment" : `${found.length} segments`;
  byId("segments").replaceChildren(...found.slice(0, shown).map(row));
  byId("more").hidden = found.length <= shown;
  const aspect = byId("aspect").value;
  const keywords = aspect === "" ? [] : evidence.keywords[Number(aspect)];
  byId("keywords").textContent = aspect === "" ? "" : `Keywords: ${keywords.join(", ")}`;
}

function showAspect(name) {
  const place = evidence.aspects.indexOf(name);
  if (place < 0) return;
  byId("aspect").value = String(place);
  shown = PAGE;
  list();
  byId("evidence").scrollIntoView();
}

for (const segment of evidence.segments) {
  segment.text = segment.t.map(([text]) => text).join("").toLowerCase();
}
for (const id of ["search", "aspect", "kind", "group"]) {
  byId(id)?.addEventListener("input", () => {
    shown = PAGE;
    list();
  });
}
byId("more").addEventListener("click", () => {
  shown += PAGE;
  list();
});
list();
drawCharts();
