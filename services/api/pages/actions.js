// What may be done, each behind a confirmation. The token is asked for once and stays in the tab.

import { act } from "./api.js";
import { create, find, reconcile, setText } from "./dom.js";

const TOKEN = "retail-token";
const UNAUTHORIZED = 401;

let confirmed = null; // the action that the dialog asks about
let isActing = false;

// A button for each action: { key, name, words, command, path }.
export function draw(place, listed) {
  reconcile(place, listed, ({ key }) => key, createButton, updateButton);
}

function createButton() {
  const button = create("button", { type: "button" });
  button.addEventListener("click", () => ask(button.action));
  return button;
}

function updateButton(button, action) {
  button.action = action;
  setText(button, action.name);
  button.disabled = isActing;
}

function ask(action) {
  confirmed = action;
  setText(find("confirmation-title"), action.name);
  setText(find("confirmation-words"), action.words);
  setText(find("confirmation-command"), action.command);
  setText(find("confirm"), action.name);
  const known = sessionStorage.getItem(TOKEN);
  find("token-label").hidden = known !== null;
  find("token").value = known ?? "";
  showProblem(null);
  find("confirmation").showModal();
}

function showProblem(problem) {
  const notice = find("confirmation-problem");
  notice.hidden = !problem;
  if (problem) setText(notice, `${problem.title}. ${problem.message}`);
}

async function confirm() {
  if (isActing || !confirmed) return;
  const token = find("token").value.trim();
  isActing = true;
  find("confirm").disabled = true;
  setText(find("confirm"), "At work …");
  showProblem(null);
  try {
    const { command, said } = await act(confirmed.path, token);
    sessionStorage.setItem(TOKEN, token);
    find("said").hidden = false;
    setText(find("said"), `${command}: ${said}`);
    find("confirmation").close();
  } catch (problem) {
    if (problem.status === UNAUTHORIZED) forgetToken();
    showProblem(problem);
  }
  isActing = false;
  find("confirm").disabled = false;
  setText(find("confirm"), confirmed.name);
}

function forgetToken() {
  sessionStorage.removeItem(TOKEN);
  find("token-label").hidden = false;
  find("token").focus();
}

find("cancel").addEventListener("click", () => find("confirmation").close());
find("confirmation-form").addEventListener("submit", (event) => {
  event.preventDefault();
  confirm();
});
