// Small pieces of page. Text always goes in as text: nothing here, or anywhere else, reads a string as HTML.

export const byId = (id) => document.getElementById(id);

export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function fill(container, ...children) {
  const key = container.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  container.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (key) container.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

export const hueOf = (state, name) => {
  if (name === null || name === "Not a review") return "none";
  const found = state.aspects.find((aspect) => aspect.name === name);
  return found && found.hue !== null ? String(found.hue) : "general";
};

export const dot = (hue, open = false) => h("span", { class: open ? "dot open" : "dot", "data-hue": hue, "aria-hidden": "true" });

export const keycap = (text) => h("kbd", { "aria-hidden": "true" }, text);

export const percent = (value, digits = 1) => `${(100 * value).toFixed(digits)} %`;

export const width = (element, part) => {
  element.style.width = `${Math.round(100 * Math.min(1, Math.max(0, part)))}%`;
};

export const points = (value) => `${value < 0 ? "−" : "+"}${Math.abs(100 * value).toFixed(1)}`;

export const aspectText = (name) => name ?? "Unmapped";

const FELT = { positive: "+", neutral: "·", negative: "−" };

// A segment in which the words that counted most for the model are marked, with its sentiment if it is given.
export function segment(pieces, sentiment = null, sure = 0) {
  const words = pieces.map(([text, weight]) => {
    if (weight === null) return text;
    const level = weight >= 1.25 ? 2 : weight >= 1.05 ? 1 : 0;
    return h("span", { class: `word a${level}`, title: `counted ${weight.toFixed(2)} × the average word` }, text);
  });
  const title = `${sentiment}, ${percent(sure, 0)} sure`;
  const mark = sentiment && h("span", { class: `felt ${sentiment}`, role: "img", "aria-label": title, title }, FELT[sentiment]);
  return h("span", { class: "segment", dir: "auto" }, words, mark);
}

export function announce(text) {
  byId("announce").textContent = text;
}
