// Draws the page from the service's own description, and tries POST /label. Texts are only ever set as text.

const find = (id) => document.getElementById(id);

function element(name, text = "", ...children) {
  const made = document.createElement(name);
  made.textContent = text;
  made.append(...children);
  return made;
}

function table(heads, rows) {
  const head = element("tr", "", ...heads.map((name) => element("th", name)));
  head.childNodes.forEach((cell, place) => cell.classList.toggle("number", typeof rows[0]?.[place] === "number"));
  const lines = rows.map((row) => {
    const cells = row.map((value) => {
      const cell = element("td", value);
      if (typeof value === "number") {
        cell.className = "number";
        cell.textContent = value.toFixed(2);
      }
      return cell;
    });
    return element("tr", "", ...cells);
  });
  return element("table", "", element("thead", "", head), element("tbody", "", ...lines));
}

const named = (api, reference) => api.components.schemas[reference.split("/").at(-1)];

function kind(schema) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map(kind).join(" or ");
  return schema.type === "array" ? `list of ${kind(schema.items)}` : schema.type;
}

function fields(api, schema, seen = new Set()) {
  const whole = schema.$ref ? named(api, schema.$ref) : schema;
  const title = schema.$ref ? kind(schema) : whole.title;
  if (seen.has(title) || !whole.properties) return [];
  seen.add(title);
  const rows = Object.entries(whole.properties).map(([name, value]) => [name, kind(value)]);
  if (whole.additionalProperties?.type) rows.push(["p_…", whole.additionalProperties.type]);
  const inner = Object.values(whole.properties).map((value) => value.items ?? value).filter((value) => value.$ref);
  const part = [element("h3", title), element("p", whole.description ?? ""), table(["field", "type"], rows)];
  part[1].className = "soft";
  return [...part, ...inner.flatMap((value) => fields(api, value, seen))];
}

function article(api, path, method, about) {
  const made = element("article", "", element("h2", `${method.toUpperCase()} ${path}`), element("p", about.description));
  const sent = about.requestBody?.content["application/json"].schema;
  if (sent) {
    const body = JSON.stringify(sent.examples[0]);
    const token = about.security ? ' -H "Authorization: Bearer $ASPECTRA_TOKEN"' : "";
    made.append(element("h3", "On the command line"));
    made.append(element("pre", `curl ${location.origin}${path}${token} -H 'Content-Type: application/json' -d '${body}'`));
    made.append(...fields(api, sent));
  }
  const answer = about.responses["200"].content?.["application/json"]?.schema;
  if (answer) made.append(...fields(api, answer));
  const statuses = Object.entries(about.responses).filter(([status]) => status !== "200");
  if (statuses.length) made.append(element("h3", "May also answer"), element("code", statuses.map(([status]) => status).join(" · ")));
  return made;
}

async function label(event) {
  event.preventDefault();
  const headers = { "Content-Type": "application/json" };
  if (find("token").value) headers.Authorization = `Bearer ${find("token").value}`;
  const body = JSON.stringify({ texts: [find("text").value] });
  const response = await fetch("/label", { method: "POST", headers, body });
  const answer = await response.json();
  const rows = (answer.segments ?? []).map((row) => [row.text, row.aspect, row.probability]);
  find("answer").replaceChildren(
    response.ok ? table(["segment", "aspect", "probability"], rows) : element("p", answer.detail),
  );
}

const api = await (await fetch("/openapi.json")).json();
find("summary").textContent = `${api.info.summary} Version ${api.info.version}.`;
for (const [path, methods] of Object.entries(api.paths)) {
  for (const [method, about] of Object.entries(methods)) find("paths").append(article(api, path, method, about));
}
document.querySelector("form").addEventListener("submit", label);
