// What the page knows, and every change of it. A choice shows at once and is sent in order; what cannot be saved is kept in the
// browser and sent again until it can.

import { get, post } from "./api.js";

export const store = {
  run: null, state: null, topic: 0, order: "share", filter: "all", metric: "f1_micro",
  cards: new Map(), trials: [], preview: [], seed: 1, notice: null, pending: [], saving: false, ended: null,
};

let changed = () => {};
export const onChange = (listener) => { changed = listener; };

export function update(values) {
  Object.assign(store, values);
  changed();
}

const place = () => `aspectra:${store.run.fingerprint}:${store.run.map}`;
export const notice = (text, kind = "info", actions = []) => update({ notice: text ? { text, kind, actions } : null });

export async function begin() {
  const { state, ...run } = await get("api/start");
  Object.assign(store, { run, state });
  store.topic = nextOpen(-1) ?? ordered()[0];
  store.pending = JSON.parse(localStorage.getItem(place()) ?? "[]");
  if (run.notice) store.notice = { text: run.notice, kind: "info", actions: [] };
  if (store.pending.length) await resume();
  update({});
  await look();
}

// Order and filter -----------------------------------------------------------------------------------------------------------------

export function ordered() {
  const { topics } = store.run;
  const doubt = (id) => 1 - store.state.suggestions[id].confidence + (store.state.choices[id].decided ? 0 : 10);
  const worth = store.order === "doubt" ? doubt : (id) => topics[id].share;
  return topics.map((topic) => topic.id).sort((a, b) => worth(b) - worth(a) || a - b);
}

export function visible() {
  const { choices, agreement } = store.state;
  if (store.filter === "open") return ordered().filter((id) => !choices[id].decided);
  if (store.filter === "conflicts") return ordered().filter((id) => agreement?.conflicts[id]);
  return ordered();
}

export function nextOpen(from) {
  const order = ordered();
  const start = order.indexOf(from) + 1;
  return [...order.slice(start), ...order.slice(0, start)].find((id) => !store.state.choices[id].decided && id !== from);
}

export function step(by) {
  const order = visible().length ? visible() : ordered();
  const at = order.indexOf(store.topic);
  go(order[at < 0 ? 0 : Math.min(order.length - 1, Math.max(0, at + by))]);
}

export function go(topic) {
  if (topic === undefined) return;
  update({ topic, trials: [] });
  look();
}

// Loading ----------------------------------------------------------------------------------------------------------------------------

// Fetch what the present topic shows: its evidence once, its trials and the preview for the present map.
let looks = 0;

export async function look() {
  const { topic, seed } = store;
  const number = ++looks;
  try {
    const wanted = [topic, nextOpen(topic)].filter((id) => id !== undefined && !store.cards.has(id));
    await Promise.all(wanted.map(async (id) => store.cards.set(id, await get(`api/card/${id}`))));
    const [trials, preview] = await Promise.all([get(`api/trials/${topic}`), get(`api/preview?seed=${seed}`)]);
    if (number === looks) update({ trials, preview });
  } catch (error) {
    if (!store.ended && error.status !== 0) notice(error.message, "bad");
  }
}

export async function refresh() {
  update({ state: await get("api/state"), trials: [] });
  underway.forEach(applyLocally);
  await look();
}

// Acting -----------------------------------------------------------------------------------------------------------------------------

let queue = Promise.resolve();
let round = 0; // grows when the map turns out to be another one: what was queued before is dropped
const underway = []; // sent in this order, not yet answered; shown already

// Say why nothing can be changed, if that is so.
function closed() {
  if (store.run.read_only) notice("This map is open for reading only.");
  else if (store.ended) notice("The studio has stopped. Start it again to change the map.");
  return store.run.read_only || store.ended !== null;
}

export function act(action) {
  if (closed()) return;
  if (store.pending.length) return keep(action);
  underway.push(action);
  applyLocally(action);
  update({ saving: true });
  const mine = round;
  queue = queue.then(() => mine === round && send(action));
}

export function assign(topic, aspect) {
  if (closed()) return;
  act({ kind: "assign", choices: { [topic]: aspect } });
  update({ topic: nextOpen(topic) ?? topic, trials: [] });
}

// Undo moves to the topic that it changed: a key pressed meanwhile is meant for that one. Keys stay in their order.
let waiting = 0;

export function afterUndo(run) {
  if (!waiting && !underway.some(({ kind }) => kind === "undo" || kind === "redo")) return run();
  waiting += 1;
  const mine = round;
  queue = queue.then(() => {
    waiting -= 1;
    if (mine === round) run();
  });
}

async function send(action) {
  if (store.pending.length) {
    underway.shift();
    update({ saving: underway.length > 0 });
    return keep(action);
  }
  try {
    const { topic, ...state } = await post("api/act", { action, version: store.state.version });
    const focus = ["undo", "redo"].includes(action.kind) && topic !== null ? { topic } : {};
    answered(state, focus);
    if (!underway.length) await look();
  } catch (error) {
    underway.shift();
    await failed(action, error);
  }
}

// Take over the server's state, with what it has not seen yet on top.
function answered(state, values = {}) {
  underway.shift();
  update({ state, saving: underway.length > 0, ...values });
  underway.forEach(applyLocally);
}

async function failed(action, error) {
  update({ saving: underway.length > 0 });
  if (error.status === 0 || error.status === 507) return keep(action, error.message);
  let later = 0;
  try {
    if (error.status === 409) later = await catchUp();
    else await refresh();
  } finally {
    const more = later === 1 ? " Nor was the one after it." : ` Nor were the ${later} after it.`;
    notice(later ? error.message + more : error.message, error.status === 409 ? "info" : "bad");
  }
}

// Show the new version, and drop the choices that were made before it could be seen. Return how many.
async function catchUp() {
  let dropped = 0;
  do {
    dropped += underway.length;
    underway.length = 0;
    round += 1;
    update({ saving: false });
    await refresh();
  } while (underway.length);
  return dropped;
}

function applyLocally(action) {
  const { choices } = store.state;
  if (action.kind === "assign") {
    for (const [topic, aspect] of Object.entries(action.choices)) choices[topic] = { ...choices[topic], aspect, decided: true };
  } else if (action.kind === "note") {
    choices[action.topic] = { ...choices[action.topic], note: action.text };
  }
}

// Not saved ----------------------------------------------------------------------------------------------------------------------------

function keep(action, why = store.notice?.why ?? "The map cannot be saved now.") {
  if (!["assign", "note"].includes(action.kind)) return notice("This cannot be done until the map can be saved again.", "bad", retry());
  applyLocally(action);
  remember([...store.pending, { action, base: store.state.version }], why);
  schedule();
  look();
}

function remember(pending, why) {
  store.pending = pending;
  if (!pending.length) {
    localStorage.removeItem(place());
    return update({ notice: null });
  }
  localStorage.setItem(place(), JSON.stringify(pending));
  const count = pending.length === 1 ? "1 choice is" : `${pending.length} choices are`;
  update({ notice: { text: `Not saved. ${why} ${count} kept in this browser until saving works.`, kind: "bad", actions: retry(), why } });
}

const retry = () => [{ label: "Try again", run: resume }];

let timer = null;
function schedule() {
  clearTimeout(timer);
  timer = setTimeout(resume, 3000);
}

// Send what was kept. If others have changed the map meanwhile, the person decides.
export async function resume(force = false) {
  clearTimeout(timer);
  if (localStorage.getItem(place()) === null) return takenOver();
  try {
    const state = await get("api/state");
    const base = store.pending[0]?.base;
    const saved = state.version === base ? 0 : savedBefore(state);
    if (saved) remember(store.pending.slice(saved), "");
    if (!store.pending.length) {
      update({ state });
      notice("All your choices are saved.");
      return await look();
    }
    if (force !== true && state.version !== base + saved) return ask(state);
    store.state = state;
    const count = store.pending.length;
    while (store.pending.length) {
      const { topic, ...next } = await post("api/act", { action: store.pending[0].action, version: store.state.version });
      store.state = next;
      remember(store.pending.slice(1), "");
      store.pending.forEach(({ action }) => applyLocally(action));
    }
    notice(`Saved what was kept in the browser: ${count === 1 ? "1 choice" : `${count} choices`}.`);
    await look();
  } catch (error) {
    store.pending.forEach(({ action }) => applyLocally(action));
    if (error.status === 400) remember(store.pending.slice(1), error.message);
    else remember(store.pending, error.message);
    if (store.pending.length) schedule();
  }
}

// How many of the kept choices, first ones first, the server has: they were saved, but its answer was lost.
function savedBefore({ choices }) {
  const there = ({ action }) => action.kind === "note" ? choices[action.topic].note === action.text
    : Object.entries(action.choices).every(([topic, aspect]) => choices[topic].decided && choices[topic].aspect === aspect);
  const missing = store.pending.findIndex((kept) => !there(kept));
  return missing < 0 ? store.pending.length : missing;
}

// Another tab has sent what this one kept, or dropped it.
function takenOver() {
  remember([], "");
  notice("Another tab has taken over the choices that were kept here. Go on there.");
}

function ask(state) {
  const count = store.pending.length;
  update({ state });
  notice(`${count === 1 ? "1 of your choices was" : `${count} of your choices were`} not saved, and the map has changed since.`, "bad", [
    { label: "Apply mine", run: () => resume(true) },
    { label: "Drop them", run: () => remember([], "") },
  ]);
}
