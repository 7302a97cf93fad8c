// The page of the API: its forms ask what they name, and show what is answered.

const SHOWN_MAX = 50_000; // characters
const READ_MS_MAX = 5_000; // a stream has no end

for (const form of document.querySelectorAll("form.ask")) {
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

// What a key is made of may hold slashes, which part it.
const spell = (value) => value.split("/").map(encodeURIComponent).join("/");

function createAddress(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const field of form.elements) {
    const [place, name] = field.name.split(":");
    const value = field.value.trim();
    if (place === "path") path = path.replace(`{${name}}`, () => spell(value));
    if (place !== "query" || !value) continue;
    const values = "several" in field.dataset ? value.split(/\s+/) : [value];
    for (const one of values) query.append(name, one);
  }
  return query.size ? `${path}?${query}` : path;
}

function createOptions(form) {
  const { body, token } = form.elements;
  const headers = {};
  if (body) headers["Content-Type"] = "application/json";
  if (token?.value.trim()) headers.Authorization = `Bearer ${token.value.trim()}`;
  return { method: form.dataset.method, headers, body: body?.value, cache: "no-store" };
}

async function send(form) {
  const button = form.querySelector("button");
  const address = createAddress(form);
  button.disabled = true;
  show(form, `${form.dataset.method} ${address} …`, "");
  const began = performance.now();
  try {
    const answer = await fetch(address, createOptions(form));
    const { text, isWhole } = await read(answer);
    const kind = answer.headers.get("Content-Type") ?? "no content type";
    const took = `${Math.round(performance.now() - began)} ms`;
    const cut = isWhole ? "" : " · only its beginning is shown";
    const state = `${form.dataset.method} ${address} · ${answer.status} · ${kind} · ${took}${cut}`;
    show(form, state, isWhole ? indent(text, kind) : text);
  } catch (error) {
    show(form, `${form.dataset.method} ${address} · no answer: ${error.message}`, "");
  }
  button.disabled = false;
}

// The beginning of a long answer, or of one that does not end.
async function read(answer) {
  const reader = answer.body?.getReader();
  if (!reader) return { text: "", isWhole: true };
  const decoder = new TextDecoder();
  let text = "";
  let isLate = false;
  const ending = setTimeout(() => {
    isLate = true;
    reader.cancel();
  }, READ_MS_MAX);
  let part = await reader.read();
  while (!part.done && text.length < SHOWN_MAX) {
    text += decoder.decode(part.value, { stream: true });
    part = await reader.read();
  }
  clearTimeout(ending);
  const isWhole = part.done && !isLate;
  if (!part.done) reader.cancel();
  return { text: text.slice(0, SHOWN_MAX), isWhole };
}

const indent = (text, kind) =>
  kind.includes("json") && text ? JSON.stringify(JSON.parse(text), null, 2) : text;

function show(form, state, text) {
  const answered = form.nextElementSibling;
  answered.hidden = false;
  answered.querySelector(".state").textContent = state;
  answered.querySelector("pre").textContent = text;
  answered.querySelector("pre").hidden = !text;
}
