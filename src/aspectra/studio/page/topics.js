// All topics at a glance: the spectrum, one stripe per topic as wide as its share, and the list.

import { aspectText, byId, dot, fill, h, hueOf, percent } from "./dom.js";
import { acceptClear, clearOnes } from "./keys.js";
import { act, go, ordered, store, update, visible } from "./store.js";

const words = (topic, n) => topic.keywords.slice(0, n).map(([word]) => word).join(" ");

function says(topic) {
  const choice = store.state.choices[topic.id];
  return `Topic ${topic.id}, ${words(topic, 3)}: ${aspectText(choice.aspect)}${choice.decided ? "" : ", open"}`;
}

export function drawSpectrum() {
  const { topics } = store.run;
  fill(byId("spectrum"), ordered().map((id) => {
    const { aspect, decided } = store.state.choices[id];
    const stripe = h("button", {
      class: decided ? "stripe" : "stripe open", "data-hue": hueOf(store.state, aspect), "data-key": `stripe ${id}`, tabindex: "-1",
      title: says(topics[id]), "aria-label": says(topics[id]), "aria-current": id === store.topic ? "true" : null, onclick: () => go(id),
    });
    stripe.style.flexGrow = String(Math.max(topics[id].share, 0.004) * 1000);
    return stripe;
  }));
}

export function drawTopics() {
  const { choices, agreement } = store.state;
  const open = choices.filter((choice) => !choice.decided).length;
  const conflicts = Object.keys(agreement?.conflicts ?? {}).length;
  const toggle = (group, value, label) =>
    h("button", { "data-key": `${group} ${value}`, "aria-pressed": String(store[group] === value), onclick: () => update({ [group]: value }) }, label);
  const filters = h("div", { class: "toggles", role: "group", "aria-label": "Show" },
    toggle("filter", "all", "All"), toggle("filter", "open", `Open ${open}`), agreement ? toggle("filter", "conflicts", `Conflicts ${conflicts}`) : null);
  const orders = h("div", { class: "toggles", role: "group", "aria-label": "Order" }, toggle("order", "share", "by share"), toggle("order", "doubt", "uncertain first"));
  const list = h("ol", { class: "list" }, visible().map(row));
  const scrolled = byId("topics").querySelector(".list")?.scrollTop ?? 0;
  const clear = store.run.read_only ? [] : clearOnes();
  const accept = clear.length > 1 ? h("button", { class: "accept-all", "data-key": "accept all", onclick: acceptClear }, `Accept ${clear.length} clear suggestions`) : null;
  const decided = choices.length - open;
  const again = store.state.can_learn && decided && open && !store.run.read_only ? h("button", {
    class: "accept-all", "data-key": "suggest again", disabled: store.saving ? "" : null, onclick: () => act({ kind: "suggest" }),
    title: "Learn from your choices, and suggest anew for the open topics",
  }, `Suggest again from ${decided} ${decided === 1 ? "choice" : "choices"}`) : null;
  fill(byId("topics"), h("header", {}, h("h2", {}, "Topics"), orders), filters, list, accept, again);
  list.scrollTop = scrolled;
  const current = list.querySelector("[aria-current]");
  if (current && (current.offsetTop < list.scrollTop || current.offsetTop + current.offsetHeight > list.scrollTop + list.clientHeight)) {
    list.scrollTop = current.offsetTop - list.clientHeight / 3;
  }
}

function row(id) {
  const topic = store.run.topics[id];
  const { aspect, decided, note } = store.state.choices[id];
  return h("li", {}, h("button", {
    "data-key": `topic ${id}`, "aria-current": id === store.topic ? "true" : null, "aria-label": says(topic), onclick: () => go(id),
  }, dot(hueOf(store.state, aspect), !decided), h("span", { class: "words", dir: "auto" }, words(topic, 4)),
  note ? h("span", { class: "quiet", title: note }, "✎") : null, h("span", { class: "share" }, percent(topic.share))));
}
