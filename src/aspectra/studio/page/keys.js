// Keys for everything. A key means nothing while a person types or a dialog is open.

import { addAspect, help, writeNote } from "./dialogs.js";
import { byId } from "./dom.js";
import { act, afterUndo, assign, go, nextOpen, step, store, update } from "./store.js";

export const KEYS = [
  [["j", "↓"], "next topic"], [["k", "↑"], "previous topic"], [["o"], "next open topic"],
  [["1", "…", "9"], "choose that aspect (with Shift: aspects 10 to 18)"], [["g"], "General: makes sense, but fits no aspect"],
  [["x"], "leave unmapped: ambiguous or meaningless"], [["z"], "not a review: code, spam, another language"], [["s"], "accept the suggestion"], [["Shift", "s"], "accept all clear suggestions"],
  [["u", "Ctrl z"], "undo"], [["r", "Ctrl y"], "redo"], [["n"], "note"], [["a"], "add aspects"], [["t"], "try a sentence"], [["?"], "help"],
];

export const acceptOne = (topic) => assign(topic, store.state.suggestions[topic].aspect);

export function clearOnes() {
  const { choices, suggestions } = store.state;
  return suggestions.filter(({ topic, flag, aspect }) => flag === "clear" && aspect && !choices[topic].decided);
}

export function acceptClear() {
  const choices = Object.fromEntries(clearOnes().map(({ topic, aspect }) => [topic, aspect]));
  if (!Object.keys(choices).length) return;
  act({ kind: "assign", choices });
  update({ topic: nextOpen(store.topic) ?? store.topic, trials: [] });
}

const plain = {
  j: () => step(1), ArrowDown: () => step(1), ArrowRight: () => step(1),
  k: () => step(-1), ArrowUp: () => step(-1), ArrowLeft: () => step(-1),
  o: () => go(nextOpen(store.topic)),
  g: () => assign(store.topic, "General"),
  x: () => assign(store.topic, null),
  z: () => assign(store.topic, "Not a review"),
  s: () => store.state.suggestions[store.topic].why && acceptOne(store.topic),
  S: acceptClear,
  u: () => act({ kind: "undo" }),
  r: () => act({ kind: "redo" }),
  n: () => writeNote(store.topic),
  a: addAspect,
  t: () => byId("try").focus(),
  "?": help,
};

const withControl = { z: { kind: "undo" }, y: { kind: "redo" }, Z: { kind: "redo" } };

export function listen() {
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (typing && event.key === "Escape") byId("card").focus();
    if (!store.state || store.ended || typing || byId("dialog").open || event.altKey) return;
    if (event.ctrlKey || event.metaKey) {
      if (!withControl[event.key]) return;
      event.preventDefault();
      afterUndo(() => act(withControl[event.key]));
      return;
    }
    const digit = /^Digit([1-9])$/.exec(event.code)?.[1] ?? (/^[1-9]$/.test(event.key) ? event.key : null);
    if (digit) return assignNumber(Number(digit) + (event.shiftKey && !/^[1-9]$/.test(event.key) ? 9 : 0), event);
    const command = plain[event.key] ?? plain[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!command) return;
    event.preventDefault();
    afterUndo(command);
  });
}

function assignNumber(number, event) {
  const aspect = store.state.aspects.filter(({ hue }) => hue !== null)[number - 1];
  if (!aspect) return;
  event.preventDefault();
  afterUndo(() => assign(store.topic, aspect.name));
}
