// Talks to the server. Throws Failure with the status; status 0 means that the server could not be reached.

export class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function call(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Failure(0, "The studio's server does not answer. Start it again with the same command.");
  }
  if (response.headers.get("content-type")?.startsWith("application/json")) {
    const value = await response.json();
    if (response.ok) return value;
    throw new Failure(response.status, value.error);
  }
  throw new Failure(response.status === 403 ? 0 : response.status, await response.text());
}

export const get = (path) => call(path, {});

export const post = (path, value = {}) =>
  call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) });
