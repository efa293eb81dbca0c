/**
 * Lines of a YAML text: of its first mistake, and that a field path names, such as `spec.containers[0].image` or
 * `metadata.labels[a.b/c]`.
 */
import { isMap, isNode, isPair, LineCounter, parseDocument } from "yaml";

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

export interface SyntaxFault {
  /** Counted from 0. */
  readonly line: number;
  readonly message: string;
}

/** Why a text is not the YAML of one object; undefined if it is. */
export function syntaxFault(text: string): SyntaxFault | undefined {
  const { errors, contents } = parseDocument(text);
  const [first] = errors;
  // The first line of the message: below it the text is quoted.
  if (first !== undefined)
    return { line: (first.linePos?.[0].line ?? 1) - 1, message: first.message.split(/ at line \d|\n/, 1)[0] ?? "" };
  return isMap(contents) ? undefined : { line: 0, message: "An object has fields, such as `kind: Pod`." };
}

export function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[([^\]]*)\]|([^.[]+)/g)].map(([, inside, name]) => {
    if (name !== undefined) return name;
    const text = (inside ?? "").replace(/^"|"$/g, "");
    return /^\d+$/.test(text) ? Number(text) : text;
  });
}
