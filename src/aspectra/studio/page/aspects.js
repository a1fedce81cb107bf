// The aspects bar: each aspect with its key, its share of the corpus and its number of topics; General, "leave unmapped" and "not a review" close it.

import { addAspect, editAspect } from "./dialogs.js";
import { byId, dot, fill, h, keycap, percent, width } from "./dom.js";
import { store } from "./store.js";

export const NOT_REVIEW = "Not a review";
const BESIDE = [null, NOT_REVIEW];

export function keyOf(number) {
  return number <= 9 ? String(number) : number <= 18 ? `⇧${number - 9}` : "";
}

// Every choice that a topic can get, in the order shown: {name, hue, key, label}.
export function options() {
  let number = 0;
  const named = store.state.aspects.map(({ name, hue }) => ({
    name, label: name, hue: hue === null ? "general" : String(hue), key: hue === null ? "G" : keyOf(++number),
  }));
  return [...named, { name: null, label: "Leave unmapped", hue: "none", key: "X" }, { name: NOT_REVIEW, label: NOT_REVIEW, hue: "none", key: "Z" }];
}

export function drawAspects() {
  const { topics, read_only } = store.run;
  const rows = options().map(({ name, label, hue, key }) => {
    const mine = topics.filter(({ id }) => store.state.choices[id].aspect === name);
    const share = store.state.shares[name] ?? mine.reduce((sum, { share }) => sum + share, 0);
    const bar = h("span", { class: "bar", "aria-hidden": "true" }, h("span", { class: "fill" }));
    width(bar.firstChild, share);
    const title = hue === "general" || BESIDE.includes(name) || read_only ? h("span", { class: "name", dir: "auto" }, label)
      : h("button", { class: "name", dir: "auto", "data-key": `edit ${name}`, title: "Describe, rename, recolour, move or delete", onclick: () => editAspect(name) }, label);
    return h("li", { "data-hue": hue }, keycap(key), dot(hue), title,
      h("span", { class: "count", title: `${mine.length} topics` }, String(mine.length)), h("span", { class: "share", title: BESIDE.includes(name) ? "share of the topics" : "share of the labels that this map gives" }, percent(share, 0)), bar);
  });
  const add = read_only ? null : h("button", { class: "add", "data-key": "add", onclick: addAspect }, "Add", keycap("A"));
  const empty = rows.length === 3 ? h("p", { class: "hint" }, "No aspects yet. Add what you want to know about, or choose from proposed names.") : null;
  const notes = store.state.notes.map((text) => h("p", { class: "hint warn", dir: "auto" }, text));
  const meaning = h("p", { class: "hint" }, "Shares are those of this map's own labels. A student's may differ.");
  fill(byId("aspects"), h("header", {}, h("h2", {}, "Aspects"), add), empty, h("ul", {}, rows), meaning, h("div", { class: "notes-list" }, notes));
}
