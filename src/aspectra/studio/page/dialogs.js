// Dialogs: help, a note, adding and editing aspects, done. The browser's own <dialog> keeps focus and closes on Escape.

import { post } from "./api.js";
import { byId, fill, h, keycap } from "./dom.js";
import { KEYS } from "./keys.js";
import { act, notice, store, update } from "./store.js";

export const RULES = [
  ["One aspect", "The keywords are clearly about one aspect: choose it."],
  ["General", "The keywords make sense together, but fit no aspect: choose General."],
  ["Ambiguous", "The keywords are about more than one aspect: leave the topic out."],
  ["Meaningless", "The keywords have nothing to do with each other: leave the topic out."],
];

const MEANING = "General is an answer of its own; a topic that is unmapped takes no part in any answer; sentences of a topic that is not a review are marked, and left out of shares.";

function open(title, content, className = "") {
  const dialog = byId("dialog");
  dialog.className = `dialog ${className}`;
  const close = h("button", { class: "close", "aria-label": "Close", onclick: () => dialog.close() }, "×");
  fill(dialog, h("header", {}, h("h2", { id: "dialog-title" }, title), close), content);
  dialog.setAttribute("aria-labelledby", "dialog-title");
  dialog.onclose = () => byId("card").focus({ preventScroll: true });
  if (!dialog.open) dialog.showModal();
  (dialog.querySelector("[autofocus]") ?? dialog).focus();
  return dialog;
}

export function help() {
  const keys = KEYS.map(([caps, text]) => h("div", {}, h("dt", {}, caps.map(keycap)), h("dd", {}, text)));
  const rules = RULES.map(([name, text]) => h("li", {}, h("strong", {}, name), " ", text));
  open("Help", h("div", { class: "columns" },
    h("section", {}, h("h3", {}, "Keys"), h("dl", { class: "keys" }, keys)),
    h("section", {}, h("h3", {}, "The four rules"), h("ol", { class: "rules" }, rules),
      h("p", { class: "quiet" }, MEANING),
      h("p", { class: "quiet" }, "An open topic uses the suggestion until you decide. Every choice is saved at once. You can undo up to 300 steps, also after a reload."),
      h("p", { class: "quiet" }, "Underlined words counted most for the model. A change of F1 in grey may be chance: there are too few labelled segments to tell."))), "wide");
}

function form(fields, label, submit) {
  const send = (event) => {
    event.preventDefault();
    byId("dialog").close();
    submit(event.target.elements);
  };
  return h("form", { method: "dialog", onsubmit: send }, fields, h("div", { class: "buttons" }, h("button", { class: "primary" }, label)));
}

export function writeNote(topic) {
  if (store.run.read_only) return;
  const text = h("textarea", { name: "text", rows: "4", maxlength: "500", dir: "auto", autofocus: true, "aria-label": "Note" });
  text.value = store.state.choices[topic].note;
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      text.form.requestSubmit();
    }
  });
  open(`Note on topic ${topic}`, form(text, "Keep note", ({ text: { value } }) => act({ kind: "note", topic, text: value })));
}

export function addAspect() {
  if (store.run.read_only) return;
  const input = h("input", { name: "names", autofocus: true, required: true, dir: "auto", placeholder: "Image, Sound, Price", "aria-label": "Names" });
  const known = new Set(store.state.aspects.map(({ name }) => name.toLowerCase()));
  const proposals = store.run.proposals.filter(({ name }) => !known.has(name.toLowerCase()));
  const add = (names) => act({ kind: "add", names });
  const chips = proposals.map(({ name, topics }) =>
    h("button", { type: "button", class: "chip", dir: "auto", onclick: (event) => { add([name]); event.target.remove(); } }, `+ ${name}`, h("small", {}, ` ${topics.length}`)));
  open("Add aspects", h("div", {},
    h("p", { class: "quiet" }, "What do you want to know about? Names, separated by commas."),
    form(input, "Add", ({ names: { value } }) => add(parts(value, /[,，、]/))),
    chips.length ? h("p", { class: "quiet" }, "Or start with these names for groups of similar topics, and rename them later:") : null,
    h("div", { class: "chips" }, chips)));
}

const parts = (text, by) => text.split(by).map((part) => part.trim()).filter(Boolean);

// What is said of an aspect beside its name; the run keeps it in aspects.toml.
function description(name) {
  const said = store.state.described[name] ?? {};
  const field = (label, key, rows, value, hint) => {
    const box = h("textarea", { name: key, rows, dir: "auto", "aria-label": label, placeholder: hint });
    box.value = value;
    return h("label", { class: "field" }, h("span", { class: "quiet" }, label), box);
  };
  return [
    field("About", "about", "2", said.about ?? "", "A sentence: what is it about?"),
    field("Words", "words", "2", (said.words ?? []).join(", "), "picture, screen, color"),
    field("Examples", "examples", "3", (said.examples ?? []).join("\n"), "One sentence per line"),
  ];
}

// Do what the dialog says: a new description, a new name, or both.
function change(name, { to, about, words, examples }) {
  const said = { about: "", words: [], examples: [], ...store.state.described[name] };
  const now = { about: about.value.trim(), words: parts(words.value, ","), examples: parts(examples.value, "\n") };
  if (Object.keys(now).some((key) => JSON.stringify(now[key]) !== JSON.stringify(said[key]))) act({ kind: "describe", name, ...now });
  if (to.value.trim() !== name) act({ kind: "rename", name, to: to.value.trim() });
}

export function editAspect(name) {
  if (store.run.read_only) return;
  const specific = store.state.aspects.filter(({ hue }) => hue !== null);
  const at = specific.findIndex((aspect) => aspect.name === name);
  if (at < 0) return;
  const done = (action) => () => { byId("dialog").close(); act(action); };
  const input = h("input", { name: "to", autofocus: true, required: true, maxlength: "60", dir: "auto", "aria-label": "Name", value: name });
  const colours = Array.from({ length: 12 }, (_, hue) =>
    h("button", { type: "button", class: "swatch", "data-hue": String(hue), "aria-label": `Colour ${hue + 1}`, "aria-pressed": String(hue === specific[at].hue), onclick: done({ kind: "colour", name, hue }) }));
  const button = (label, action, disabled = false) => h("button", { type: "button", disabled, onclick: done(action) }, label);
  open("Edit aspect", h("div", {},
    form([h("label", { class: "field" }, h("span", { class: "quiet" }, "Name"), input), ...description(name)], "Keep", (fields) => change(name, fields)),
    h("div", { class: "swatches", role: "group", "aria-label": "Colour" }, colours),
    h("div", { class: "buttons spread" },
      button("Move up", { kind: "move", name, place: at - 1 }, at === 0),
      button("Move down", { kind: "move", name, place: at + 1 }, at === specific.length - 1),
      h("button", { type: "button", class: "danger", onclick: done({ kind: "delete", name }) }, "Delete")),
    h("p", { class: "quiet" }, "If you delete it, its topics are open again. Undo brings everything back.")));
}

export async function finish() {
  if (store.pending.length) return notice("Not everything is saved yet. Your choices are kept in this browser.", "bad");
  try {
    const { next } = await post("api/done");
    update({ ended: next });
    open("Done", h("div", {}, h("p", {}, "The map is saved and the studio has stopped. You can close this tab."),
      h("p", { class: "quiet" }, "Next:"), h("pre", {}, next)));
  } catch (error) {
    notice(error.message, "bad");
  }
}
