// The form that turns the load of the simulated world, as the command `retail simulate` does.

import * as actions from "./actions.js";
import * as address from "./address.js";
import { ACTIONS } from "./api.js";
import { find } from "./dom.js";

const form = find("load-form");

export function draw() {
  const entries = [...new FormData(form)].map(([name, value]) => [name, value.trim()]);
  const given = entries.filter(([, value]) => value);
  const options = given.map(([name, value]) => ` --${name.replaceAll("_", "-")}=${value}`).join("");
  const turn = {
    key: "turn",
    name: "Turn the load",
    words: "The world hears it at its next minute. It holds until it is turned again.",
    command: `retail simulate${options}`,
    path: address.create(ACTIONS.simulate, Object.fromEntries(given)),
  };
  const restore = {
    key: "usual",
    name: "As the world began",
    words: "Every store sells, nothing is a hit, and rate and speed are those of the world's beginning.",
    command: "retail simulate --usual",
    path: address.create(ACTIONS.simulate, { usual: true }),
  };
  actions.draw(find("actions"), given.length ? [turn, restore] : [restore]);
}

form.addEventListener("input", draw);
form.addEventListener("submit", (event) => event.preventDefault());
