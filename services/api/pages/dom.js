// The least that it takes to draw. A node is changed where its text changes, and is kept as long as
// its row is there, so that neither the focus nor a selection gets lost.

const SVG = "http://www.w3.org/2000/svg";

export const find = (id) => document.getElementById(id);

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

export function create(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function createSvg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// Lets the parent's children be those of the items, in order. A node keeps to its item's key.
export function reconcile(parent, items, readKey, createNode, update) {
  const before = new Map([...parent.children].map((node) => [node.dataset.key, node]));
  const wanted = items.map((item) => {
    const key = readKey(item);
    const node = before.get(key) ?? createNode(item);
    before.delete(key);
    node.dataset.key = key;
    update(node, item);
    return node;
  });
  for (const gone of before.values()) gone.remove();
  let place = parent.firstElementChild;
  for (const node of wanted) {
    if (node === place) place = place.nextElementSibling;
    else parent.insertBefore(node, place);
  }
}

// The body of a table. A column has `text`, or `draw` for a cell that is more than text;
// `link` makes the text lead somewhere, `tone` makes it a badge, `small` stands beside it unless it
// is the same; `kind` is the cell's class; the first one heads its row. On a narrow screen a row is
// a card, where each cell needs its column's name.
export class Rows {
  constructor(body, readKey, columns) {
    Object.assign(this, { body, readKey, columns });
  }

  show(items) {
    reconcile(this.body, items, this.readKey, () => this.#create(), (row, item) => {
      this.columns.forEach((column, index) => this.#update(row.children[index], column, item));
    });
  }

  #create() {
    const heads = this.body.closest("table").querySelectorAll("thead th");
    const cells = this.columns.map(({ link, tone, small, kind }, index) => {
      const cell = index === 0 ? create("th", { scope: "row" }) : create("td");
      if (kind) cell.className = kind;
      cell.dataset.label = heads[index]?.textContent ?? "";
      if (link || tone || small) cell.append(create(link ? "a" : "span"));
      if (small) cell.append(" ", create("small"));
      return cell;
    });
    return create("tr", {}, ...cells);
  }

  #update(cell, { text, link, tone, small, draw }, item) {
    if (draw) {
      draw(cell, item);
      return;
    }
    const words = text(item);
    const inner = cell.firstElementChild;
    setText(inner ?? cell, words);
    if (link) setAttribute(inner, "href", link(item));
    if (tone) setAttribute(inner, "class", words ? `badge ${tone(item)}` : "");
    if (small) setText(cell.lastElementChild, small(item) === words ? "" : small(item));
  }
}
