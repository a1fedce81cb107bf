// Label segments, one after another, with the same keys as topics.

import { get, post } from "./api.js";
import { NOT_REVIEW, options } from "./aspects.js";
import { byId, dot, fill, h, keycap, segment } from "./dom.js";
import { look, notice, store, update } from "./store.js";

let drawn = "random";
let current = null; // the question that is shown
let queue = Promise.resolve(); // answers wait for the question that they are meant for

export async function label(how = "random") {
  drawn = how;
  if (store.state.aspects.length < 2) return notice("Add aspects first.");
  const dialog = byId("dialog");
  dialog.className = "dialog wide labelling";
  dialog.onclose = () => { dialog.onkeydown = null; look(); };
  try {
    show(await get(`api/question?drawn=${drawn}`));
    if (!dialog.open) dialog.showModal();
  } catch (error) {
    notice(error.message, "bad");
  }
}

function show(question) {
  current = question;
  const dialog = byId("dialog");
  const { own_labels, random_labels, enough_labels } = store.state;
  const close = h("button", { class: "close", "aria-label": "Close", onclick: () => dialog.close() }, "×");
  const count = drawn === "random"
    ? `Random segments, for an estimate: ${random_labels} labelled${random_labels < enough_labels ? `, ${enough_labels} give a first one` : ""}`
    : `Doubtful segments, to improve the map: ${own_labels - random_labels} labelled`;
  const choices = labelOptions().map(({ name, label: text, hue, key }) =>
    h("button", { class: "choice", "data-hue": hue, "data-key": `label ${name}`, onclick: () => choose(name) }, keycap(key), dot(hue), h("span", { class: "name", dir: "auto" }, text)));
  const skip = h("button", { onclick: () => choose(null), "data-key": "skip" }, "Not sure", keycap("X"));
  const back = h("button", { onclick: () => send(() => ({ back: true })), disabled: !own_labels, "data-key": "back" }, "Undo", keycap("U"));
  fill(dialog, h("header", {}, h("h2", {}, "What is this segment about?"), close), h("p", { class: "quiet" }, count),
    question ? h("blockquote", {}, segment(question.pieces)) : h("p", {}, "There are no more segments."),
    question ? h("div", { class: "choices" }, choices) : null, h("div", { class: "buttons spread" }, back, question ? skip : null));
  dialog.onkeydown = press;
  if (!dialog.contains(document.activeElement)) dialog.focus(); // else keys would go nowhere
}

const labelOptions = () => options().filter(({ name }) => name !== null && name !== NOT_REVIEW);

const choose = (aspect) => send(() => current && { row: current.row, aspect });

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.toUpperCase();
  const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
  const wanted = digit && event.shiftKey && !/^[1-9]$/.test(event.key) ? `⇧${digit}` : digit ?? key;
  const option = labelOptions().find((one) => one.key === wanted);
  if (option) choose(option.name);
  else if (key === "X") choose(null);
  else if (key === "U") send(() => ({ back: true }));
  else return;
  event.preventDefault();
}

function send(find) {
  queue = queue.then(async () => {
    const answer = byId("dialog").open && find();
    if (!answer) return;
    try {
      const { question, state } = await post("api/answer", { ...answer, drawn });
      update({ state });
      show(question);
    } catch (error) {
      byId("dialog").close();
      notice(error.message, "bad");
    }
  });
}
