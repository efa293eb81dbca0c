/**
 * A diagram as text of any width: a line for each step, in the order of the diagram.
 *
 *        0 ms  kubectl ──► apiserver  POST deployments
 *        2 ms  apiserver ══► store  web @41
 */
import type { Arrow, Line } from "../diagram/causal-order.ts";
import type { Diagram } from "../diagram/diagram.ts";
import { timeOf } from "./ascii.ts";

const TIME_WIDTH = 9;
const ARROWS: Readonly<Record<Exclude<Arrow, "note">, string>> = {
  call: "──►",
  answer: "──►",
  watch: "--►",
  persisted: "══►",
};

export function steps({ lines }: Diagram, width: number): string {
  const first = lines[0]?.at ?? 0;
  return lines
    .map((line) => {
      const time = timeOf(line.at - first).padStart(TIME_WIDTH - 1);
      return `${wrapped(`${time}  ${wordsOf(line)}`, width, " ".repeat(TIME_WIDTH + 5))}\n`;
    })
    .join("");
}

function wordsOf({ arrow, from, to, text, times }: Line): string {
  const words = times > 1 ? `${text} ×${times}` : text;
  if (arrow === "note" || from === to) return `${from}: ${words}`;
  return `${from} ${ARROWS[arrow]} ${to}  ${words}`;
}

/** Broken at blanks; a word that is longer than a line stays whole. Further lines begin with `indent`. */
export function wrapped(text: string, width: number, indent: string): string {
  if (text.length <= width) return text;
  const room = text.lastIndexOf(" ", width);
  const isInside = room > indent.length && text.slice(0, room).trim() !== "";
  const end = isInside ? room : text.indexOf(" ", Math.max(width, indent.length + 1));
  if (end === -1) return text;
  const rest = text.slice(end).trimStart();
  return `${text.slice(0, end).trimEnd()}\n${wrapped(`${indent}${rest}`, width, indent)}`;
}
