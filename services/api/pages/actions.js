// What may be done, each behind a confirmation. The token is asked for once and stays in the tab.

import * as address from "./address.js";
import { act } from "./api.js";
import { create, find, reconcile, setText } from "./dom.js";

const TOKEN = "retail-token";
const UNAUTHORIZED = 401;
const DIALOG_MS = 3_000; // what takes longer goes on without the dialog: the page shows how far it is

let confirmed = null; // the action that the dialog asks about
let isActing = false;

// A button for each action: { key, name, words, command, path }, and perhaps a question, whose
// answer becomes a parameter: { label, parameter, isNeeded }.
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
  askQuestion(action.question);
  const stored = sessionStorage.getItem(TOKEN);
  find("token-label").hidden = stored !== null;
  find("token").value = stored ?? "";
  showProblem(null);
  find("confirmation").showModal();
}

function askQuestion(question) {
  find("answer-label").hidden = !question;
  setText(find("answer-words"), question?.label ?? "");
  find("answer").value = "";
  find("answer").required = question?.isNeeded ?? false;
}

function showProblem(problem) {
  const notice = find("confirmation-problem");
  notice.hidden = !problem;
  if (problem) setText(notice, `${problem.title}. ${problem.message}`);
}

function say(words, isGood) {
  find("said").hidden = false;
  find("said").classList.toggle("done", isGood);
  setText(find("said"), words);
}

async function confirm() {
  if (isActing || !confirmed) return;
  const action = confirmed;
  const token = find("token").value.trim();
  setActing(action, true);
  showProblem(null);
  const leaving = setTimeout(() => leave(action), DIALOG_MS);
  try {
    const { command, said } = await act(createPath(action), token);
    sessionStorage.setItem(TOKEN, token);
    find("confirmation").close();
    say(`${command}: ${said}`, true);
  } catch (problem) {
    if (problem.status === UNAUTHORIZED) forgetToken();
    showProblem(problem);
    if (!find("confirmation").open) say(`${action.command}: ${problem.title}. ${problem.message}`, false);
  }
  clearTimeout(leaving);
  setActing(action, false);
}

function setActing(action, isNow) {
  isActing = isNow;
  find("confirm").disabled = isNow;
  setText(find("confirm"), isNow ? "At work …" : action.name);
}

function leave(action) {
  find("confirmation").close();
  say(`${action.command}: at work …`, true);
}

function createPath({ path, question }) {
  return question ? address.create(path, { [question.parameter]: find("answer").value.trim() }) : path;
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
