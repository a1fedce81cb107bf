// Draws the page from the store, a frame after anything changed.

import { drawAspects } from "./aspects.js";
import { drawCard } from "./card.js";
import { finish, help } from "./dialogs.js";
import { byId, fill, h, keycap } from "./dom.js";
import { drawAgreement, drawEffect } from "./effect.js";
import { listen } from "./keys.js";
import { drawPreview } from "./preview.js";
import { act, begin, notice, onChange, refresh, store } from "./store.js";
import { drawSpectrum, drawTopics } from "./topics.js";

let drawing = false;

function draw() {
  if (drawing || !store.state) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawTop();
    drawNotice();
    drawSpectrum();
    drawAspects();
    drawTopics();
    drawCard();
    drawEffect();
    drawAgreement();
    drawPreview();
    performance.mark("drawn");
  });
}

function drawTop() {
  const { state, run } = store;
  const decided = state.choices.filter((choice) => choice.decided).length;
  byId("run").textContent = run.map === "topic_map.json" ? run.run : `${run.run} · ${run.by}`;
  document.title = `${decided} of ${state.choices.length} · ${run.run} · aspectra`;
  byId("progress").textContent = `${decided} of ${state.choices.length} decided`;
  byId("minutes").textContent = `${Math.round(state.minutes)} min`;
  const saved = byId("saved");
  saved.className = store.pending.length ? "saved bad" : "saved";
  saved.textContent = run.read_only ? "Read only" : store.pending.length ? "Not saved" : store.saving ? "Saving …" : "Saved";
  const tool = (label, key, run, title, disabled) =>
    h("button", { class: "tool", "data-key": label, title, disabled, onclick: run }, label, keycap(key));
  fill(byId("tools"),
    run.read_only ? null : tool("Undo", "U", () => act({ kind: "undo" }), state.undo ? `Undo: ${state.undo}` : "Nothing to undo", !state.undo),
    run.read_only ? null : tool("Redo", "R", () => act({ kind: "redo" }), state.redo ? `Redo: ${state.redo}` : "Nothing to redo", !state.redo),
    tool("Help", "?", help, "Keys and the four rules"),
    h("button", { class: "primary", "data-key": "done", onclick: finish, disabled: Boolean(store.ended) }, "Done"));
}

function drawNotice() {
  const box = byId("notice");
  box.hidden = !store.notice;
  if (!store.notice) return fill(box);
  const { text, kind, actions } = store.notice;
  box.dataset.kind = kind;
  fill(box, h("p", { dir: "auto" }, text), actions.map(({ label, run }) => h("button", { "data-key": label, onclick: () => run() }, label)),
    kind === "bad" && store.pending.length ? null : h("button", { class: "close", "aria-label": "Dismiss", onclick: () => notice(null) }, "×"));
}

async function freshen() {
  if (document.visibilityState !== "visible" || !store.state || store.ended || store.pending.length || store.saving) return;
  const before = store.state.version;
  await refresh().catch(() => {});
  if (store.state.version !== before) notice("The map was changed in another tab. Here is the new version.");
}

onChange(draw);
listen();
document.addEventListener("visibilitychange", freshen);
begin().then(() => byId("card").focus({ preventScroll: true }), (error) => {
  byId("notice").hidden = false;
  byId("notice").textContent = error.message;
});
