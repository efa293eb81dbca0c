/** The line of a YAML text that a field path names, such as `spec.containers[0].image` or `metadata.labels[a.b/c]`. */
import { isNode, isPair, LineCounter, parseDocument } from "yaml";

export function lineOf(text: string, path: string): number | undefined {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  // A missing field has no line: use its parent's.
  for (let steps = stepsOf(path); steps.length > 0; steps = steps.slice(0, -1)) {
    const parent = document.getIn(steps.slice(0, -1), true);
    const last = steps.at(-1);
    const items = isNode(parent) && "items" in parent ? (parent.items as unknown[]) : [];
    const found =
      typeof last === "number" ? items[last] : items.find((item) => isPair(item) && String(item.key) === last);
    const node = isPair(found) ? found.key : found;
    if (isNode(node) && node.range) return counter.linePos(node.range[0]).line - 1;
  }
  return undefined;
}

export function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[([^\]]*)\]|([^.[]+)/g)].map(([, inside, name]) => {
    if (name !== undefined) return name;
    const text = (inside ?? "").replace(/^"|"$/g, "");
    return /^\d+$/.test(text) ? Number(text) : text;
  });
}
