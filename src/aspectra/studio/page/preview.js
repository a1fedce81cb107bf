// Ten random segments as they would be labelled now, and a box for one's own sentence.

import { post } from "./api.js";
import { byId, dot, fill, h, hueOf, keycap, percent, segment } from "./dom.js";
import { look, store, update } from "./store.js";

let tried = null;
let asked = 0;

const tag = ({ aspect, probability }) => aspect === null ? h("span", { class: "tag" }, "no map yet")
  : h("span", { class: "tag", "data-hue": hueOf(store.state, aspect) }, dot(hueOf(store.state, aspect)), h("span", { dir: "auto" }, aspect), h("small", {}, percent(probability, 0)));

export function drawPreview() {
  const box = byId("preview");
  const rows = store.preview.map((row) => h("li", {}, tag(row), segment(row.pieces, row.sentiment, row.sure)));
  if (!box.firstChild) fill(box, tryBox(), h("div", { id: "tried", class: "tried", role: "status" }), h("div", { id: "random" }));
  fill(byId("random"), h("header", {}, h("h2", {}, "Preview"), h("button", { class: "link", "data-key": "shuffle", onclick: shuffle }, "Ten others")), h("ol", { class: "previews" }, rows));
  drawTried();
}

function shuffle() {
  update({ seed: store.seed + 1 });
  look();
}

function tryBox() {
  const input = h("input", { id: "try", type: "text", maxlength: "2000", dir: "auto", placeholder: "Type a sentence …", "aria-label": "Try your own sentence", autocomplete: "off" });
  input.addEventListener("input", () => attempt(input.value));
  return h("div", { class: "try" }, h("header", {}, h("h2", {}, "Try a sentence"), keycap("T")), input);
}

// The version is part of the question: after a choice the same sentence is asked again.
async function attempt(text) {
  const number = ++asked;
  const answer = text.trim() ? await post("api/try", { text }).catch(() => null) : null;
  if (number !== asked) return;
  tried = answer && { ...answer, text, version: store.state.version };
  drawTried();
}

function drawTried() {
  if (!tried) return fill(byId("tried"));
  if (tried.version !== store.state.version) return attempt(tried.text);
  const topics = tried.topics.map(({ topic, probability }) => `${store.run.topics[topic].keywords.slice(0, 2).map(([word]) => word).join(" ")} ${percent(probability, 0)}`);
  fill(byId("tried"), tag(tried), segment(tried.pieces, tried.sentiment, tried.sure), h("p", { class: "hint", dir: "auto" }, tried.known ? `Topics: ${topics.join(" · ")}` : "None of its words is known."));
}
