/** A diagram as Mermaid's sequenceDiagram, for documents. */
import type { Arrow } from "../diagram/causal-order.ts";
import type { Diagram } from "../diagram/diagram.ts";

const ARROWS: Readonly<Record<Exclude<Arrow, "note">, string>> = {
  call: "->>",
  answer: "-->>",
  watch: "-)",
  persisted: "->>",
};

export function mermaid({ participants, lines }: Diagram): string {
  const ids = new Map(participants.map((name, index) => [name, `p${index}`]));
  const id = (name: string) => ids.get(name) ?? "";
  const out = ["sequenceDiagram", ...participants.map((name) => `  participant ${id(name)} as ${safe(name)}`)];
  for (const { arrow, from, to, text, times } of lines) {
    const words = safe(times > 1 ? `${text} ×${times}` : text);
    if (arrow === "note") out.push(`  Note over ${id(from)}: ${words}`);
    else out.push(`  ${id(from)}${ARROWS[arrow]}${id(to)}: ${words}`);
  }
  return `${out.join("\n")}\n`;
}

/** Escapes characters that have a meaning in Mermaid. */
function safe(text: string): string {
  return text.replaceAll(";", ",").replaceAll("#", "＃").replaceAll(/\s+/g, " ");
}
