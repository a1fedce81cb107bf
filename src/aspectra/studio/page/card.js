// One topic: what it is, what is suggested and why, what each choice would do, and the segments that show it.

import { options } from "./aspects.js";
import { writeNote } from "./dialogs.js";
import { announce, byId, dot, fill, h, hueOf, keycap, percent, points, segment, width } from "./dom.js";
import { acceptOne } from "./keys.js";
import { assign, go, ordered, store } from "./store.js";

const FLAGS = { ambiguous: "ambiguous", incoherent: "meaningless?", general: "fits no aspect", clear: "clear" };
let announced = "";

export function drawCard() {
  const topic = store.run.topics[store.topic];
  const choice = store.state.choices[topic.id];
  fill(byId("card"), head(topic, choice), keywords(topic), suggestion(topic, choice), choices(topic, choice), opinions(topic), evidence(topic), foot(topic, choice));
  const text = `Topic ${topic.id}: ${topic.keywords.slice(0, 5).map(([word]) => word).join(", ")}.`;
  if (text !== announced) announce(text);
  announced = text;
}

function head(topic, choice) {
  const { flag, why } = store.state.suggestions[topic.id];
  const status = choice.decided ? `decided by ${choice.by}` : "open";
  return h("header", { class: "head" },
    h("h1", {}, `Topic ${topic.id}`, h("small", {}, ` ${ordered().indexOf(topic.id) + 1} of ${store.run.topics.length}`)),
    h("dl", { class: "facts" },
      fact("share", percent(topic.share), "part of all segments for which this is the most probable topic"),
      fact("coherence", topic.coherence.toFixed(2).replace("-", "−"), "from −1 to 1: high if its keywords often occur together (mean NPMI)")),
    why && !choice.decided && ["ambiguous", "incoherent"].includes(flag) ? h("span", { class: "flag" }, FLAGS[flag]) : null,
    h("span", { class: choice.decided ? "status" : "status open", dir: "auto" }, status));
}

const fact = (name, value, title) => h("div", { title }, h("dt", {}, name), h("dd", {}, value));

function keywords(topic) {
  const weights = topic.keywords.map(([, weight]) => weight);
  const [low, high] = [Math.min(...weights), Math.max(...weights)];
  const size = (weight) => (high > low ? Math.round(4 * Math.sqrt((weight - low) / (high - low))) : 2);
  return h("p", { class: "keywords" }, topic.keywords.map(([word, weight]) => [h("span", { class: `k${size(weight)}`, dir: "auto" }, word), " "]));
}

function suggestion(topic, choice) {
  const { aspect, why, confidence, flag } = store.state.suggestions[topic.id];
  if (!why) return null;
  const taken = choice.decided && choice.aspect === aspect;
  const accept = store.run.read_only ? null
    : h("button", { class: "accept", "data-key": "accept", disabled: taken, onclick: () => acceptOne(topic.id) }, taken ? "Accepted" : "Accept", keycap("S"));
  const gauge = h("span", { class: "gauge", role: "img", "aria-label": `confidence ${percent(confidence, 0)}`, title: `confidence ${percent(confidence, 0)}` }, h("span", {}));
  width(gauge.firstChild, confidence);
  return h("div", { class: "suggestion", "data-hue": hueOf(store.state, aspect), "aria-label": "Suggestion" },
    h("div", {}, h("span", { class: "label" }, "Suggested"), h("strong", { dir: "auto" }, aspect ?? "leave it unmapped"),
      h("span", { class: "quiet" }, FLAGS[flag] === (aspect ?? "") ? "" : FLAGS[flag]), gauge),
    h("p", { dir: "auto" }, why), accept);
}

function choices(topic, choice) {
  const change = new Map(store.trials.map((trial) => [trial.aspect, trial.change[store.metric]]));
  const buttons = options().map(({ name, label, hue, key }) => {
    const chosen = choice.aspect === name;
    return h("button", {
      class: chosen && !choice.decided ? "choice suggested" : "choice", "data-hue": hue, "data-key": `choose ${name}`, "data-aspect": label,
      "aria-pressed": String(chosen && choice.decided), disabled: store.run.read_only, onclick: () => assign(topic.id, name),
    }, keycap(key), dot(hue), h("span", { class: "name", dir: "auto" }, label), chosen ? null : delta(change.get(name)));
  });
  return h("div", { class: "choices", role: "group", "aria-label": "Choices" }, buttons);
}

// What a choice would do to F1; a change that may be chance is grey, and says so.
export function delta(change) {
  if (!change) return null;
  const [value, low, high] = change;
  const chance = low <= 0 && high >= 0;
  const kind = chance ? "chance" : value > 0 ? "up" : "down";
  const title = `${points(value)} points of F1, 95 % interval ${points(low)} to ${points(high)}${chance ? ": may be chance" : ""}`;
  return h("span", { class: `delta ${kind}`, title }, Math.abs(value) < 0.0005 ? "±0" : points(value));
}

function opinions(topic) {
  const said = store.state.agreement?.conflicts[topic.id];
  if (!said) return null;
  const who = Object.entries(said).map(([name, aspect]) => h("span", { class: "opinion", dir: "auto" }, `${name}: `, dot(hueOf(store.state, aspect)), aspect ?? "unmapped"));
  return h("p", { class: "opinions" }, h("span", { class: "label" }, "Different choices"), who);
}

function evidence(topic) {
  const card = store.cards.get(topic.id);
  const column = (title, hint, rows) => h("section", {}, h("h3", { title: hint }, title),
    h("ol", { class: "segments" }, rows ? rows.map(({ pieces, sentiment, sure, probability }) => h("li", {}, segment(pieces, sentiment, sure), h("span", { class: "p", title: "probability of this topic" }, percent(probability, 0)))) : h("li", { class: "quiet" }, "…")));
  return h("div", { class: "evidence" },
    column("Most certain", "Segments for which this topic is most probable", card?.surest),
    column("Could be another topic", "Segments for which another topic is about as probable", card?.boundary));
}

function foot(topic, choice) {
  const near = topic.nearest.map(([id, cosine]) => {
    const other = store.run.topics[id];
    const { aspect, decided } = store.state.choices[id];
    return h("button", { class: "near", dir: "auto", "data-key": `near ${id}`, title: `Topic ${id}, similarity ${cosine.toFixed(2)}`, onclick: () => go(id) },
      dot(hueOf(store.state, aspect), !decided), other.keywords.slice(0, 3).map(([word]) => word).join(" "));
  });
  const note = choice.note ? h("p", { class: "note", dir: "auto" }, choice.note) : null;
  const write = store.run.read_only ? null : h("button", { class: "near", "data-key": "note", onclick: () => writeNote(topic.id) }, choice.note ? "Edit note" : "Add note", keycap("N"));
  return h("footer", {}, h("div", {}, h("h3", {}, "Nearest topics"), h("div", { class: "chips" }, near)), h("div", { class: "notes" }, note, write));
}
