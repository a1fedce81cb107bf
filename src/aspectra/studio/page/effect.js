// What the present map does on labelled segments: three F1 figures with their intervals and the confusion matrix.

import { keyOf } from "./aspects.js";
import { byId, dot, fill, h, hueOf, percent } from "./dom.js";
import { label } from "./label.js";
import { store, update } from "./store.js";

const NAMES = { f1_micro: ["micro", "F1 micro: every segment counts the same"], f1_macro: ["macro", "F1 macro: every aspect counts the same"], f1_macro_without_general: ["no General", "F1 macro over the aspects without General"] };
const figure = (value) => (100 * value).toFixed(1);

export function drawEffect() {
  const { effect, own_labels, enough_labels, estimates, random_labels } = store.state;
  if (!effect) return fill(byId("effect"), h("header", {}, h("h2", {}, "Effect")), offer(own_labels, enough_labels));
  const more = own_labels === null || store.run.read_only ? null
    : h("p", { class: "hint" }, estimates ? `Expected of this map alone on new segments: the labels are ${random_labels} random ones. A student's figures may differ. ` : `No estimate: these are doubtful segments, others are easier. ${enough_labels} random ones give one. `, more_labels());
  fill(byId("effect"),
    h("header", {}, h("h2", {}, "Effect"), h("span", { class: "quiet" }, `F1 of this map on ${effect.n} labelled segments`)),
    h("div", { class: "figures", role: "group", "aria-label": "F1 shown on the choices" }, Object.keys(NAMES).map((name) => number(name, effect))),
    h("p", { class: "hint" }, "Always answering ", h("span", { dir: "auto" }, effect.majority.aspect), ` would get ${figure(effect.majority.f1_micro)} micro, ${figure(effect.majority.f1_macro)} macro.`),
    unmappedGold(effect.unmapped_gold), more, confusion(effect));
}

function number(name, { figures }) {
  const [value, low, high] = figures[name];
  const [label, title] = NAMES[name];
  return h("button", { class: "figure", "data-key": name, "data-figure": name, title, "aria-pressed": String(store.metric === name), onclick: () => update({ metric: name }) },
    h("span", { class: "label" }, label), h("strong", {}, figure(value)), h("small", { title: "95 % interval" }, `${figure(low)} – ${figure(high)}`));
}

function unmappedGold(labels) {
  const names = Object.entries(labels).map(([name, count]) => `${name} (${count})`);
  return names.length ? h("p", { class: "hint warn", dir: "auto" }, `In the labels, but not among the aspects, so always wrong: ${names.join(", ")}.`) : null;
}

const more_labels = () => [
  h("button", { class: "link", "data-key": "label random", onclick: () => label("random") }, "Random segments"), " for the estimate, ",
  h("button", { class: "link", "data-key": "label doubtful", onclick: () => label("doubtful") }, "doubtful ones"), " to improve.",
];

function offer(count, enough) {
  if (count === null || store.run.read_only) return h("p", { class: "hint" }, "No labelled segments.");
  const text = count ? `${count} labelled; a first estimate needs ${enough}.` : `Label ${enough} to 50 segments to see what each choice does, and how good the map is.`;
  return h("div", {}, h("p", { class: "hint" }, text), h("button", { class: "wide-button", "data-key": "label", onclick: () => label("random") }, count ? "Continue labelling" : "Label some segments"), h("p", { class: "hint" }, more_labels()));
}

function confusion({ aspects, confusion: counts, f1 }) {
  const shown = (value) => String(Number(value.toFixed(1))); // with several gold aspects, parts of segments
  const key = (name, place) => (name === "General" ? "G" : keyOf(place + 1) || "·");
  const answered = aspects.slice(0, store.state.aspects.length); // the others are in the labels only
  const head = h("tr", {}, h("td", {}), answered.map((name, place) => h("th", { scope: "col", title: name }, h("abbr", { title: name, "aria-label": name }, key(name, place)))), h("th", { scope: "col" }, "F1"));
  const rows = counts.map((row, gold) => {
    const labelled = row.reduce((sum, value) => sum + value, 0);
    const total = Math.max(1, labelled);
    const cells = row.slice(0, answered.length).map((value, answer) => {
      const cell = h("td", { class: gold === answer ? "right" : value ? "wrong" : "", title: `labelled ${aspects[gold]}, answered ${aspects[answer]}: ${shown(value)}` }, value ? shown(value) : "");
      cell.style.setProperty("--part", String(Math.round((100 * value) / total)));
      return cell;
    });
    return h("tr", {}, h("th", { scope: "row", title: aspects[gold] }, dot(hueOf(store.state, aspects[gold])), h("span", { dir: "auto" }, aspects[gold])), cells, h("td", { class: "f1", title: labelled ? null : "no labelled segment has it" }, labelled ? percent(f1[gold], 0).replace(" %", "") : "–"));
  });
  return h("div", { class: "scroll" }, h("table", { class: answered.length > 10 ? "confusion many" : "confusion" }, h("caption", {}, "Labelled ", h("span", { "aria-hidden": "true" }, "↓"), " and answered ", h("span", { "aria-hidden": "true" }, "→")), h("thead", {}, head), h("tbody", {}, rows)));
}

export function drawAgreement() {
  const box = byId("agreement");
  const { agreement } = store.state;
  box.hidden = !agreement;
  if (!agreement) return;
  const rows = agreement.pairs.map(({ first, second, kappa, n }) => h("li", {}, h("span", { dir: "auto" }, `${first} and ${second}`), h("strong", {}, kappa === null ? "–" : kappa.toFixed(2)), h("span", { class: "quiet" }, `${n} topics`)));
  const count = Object.keys(agreement.conflicts).length;
  const show = count ? h("button", { class: "wide-button", "data-key": "conflicts", onclick: () => update({ filter: "conflicts" }) }, `Show ${count} conflicts`) : h("p", { class: "hint" }, "No conflicts.");
  fill(box, h("header", {}, h("h2", {}, "Second opinion"), h("span", { class: "quiet", title: "Cohen's kappa: 1 is full agreement, 0 is agreement by chance" }, "kappa")), h("ul", { class: "kappas" }, rows), show);
}
