/** The page of a flow: what it is, its essential steps with the records behind them, and the whole diagram. */
import { type Diagram, type Line, mermaid } from "#flows";
import type { Scenario } from "./scenario.ts";

const SIGNS = { call: "──►", answer: "──►", watch: "--►", persisted: "══►", note: "···" } as const;

export function pageOf({ title, about, steps }: Scenario, diagram: Diagram, lines: readonly Line[]): string {
  const rows = steps.map(({ says }, index) => {
    const line = lines[index];
    return line === undefined ? "" : `| ${index + 1} | ${says} | ${cell(line)} | ${evidence(line)} |`;
  });
  return [
    `# ${title}`,
    "",
    about,
    "",
    "Drawn from the records of a real run by `node scripts/flow-catalogue.ts`; names, revisions and nodes are those of that run. Tests play it again and",
    "check who takes part, and the order of these steps:",
    "",
    "| | step | as recorded | evidence |",
    "|---|---|---|---|",
    ...rows,
    "",
    `Who takes part: ${[...new Set(diagram.participants.map(shape))].join(", ")}.`,
    "",
    "```mermaid",
    mermaid(diagram).trimEnd(),
    "```",
    "",
  ].join("\n");
}

function cell({ from, to, arrow, text, times }: Line): string {
  const words = times > 1 ? `${text} ×${times}` : text;
  const who = arrow === "note" ? from : `${from} ${SIGNS[arrow]} ${to}`;
  return `${who}: ${words.replaceAll("|", "\\|")}`;
}

function evidence({ records }: Line): string {
  const [first] = records;
  if (first === undefined) return "";
  if (first.type === "work") return `work of ${first.actor}`;
  if (first.type === "delivery") return `delivery of ${first.revision}`;
  return first.written === undefined ? `request, ${first.status}` : `request, revision ${first.written.revision}`;
}

/** Nodes have names that differ. */
export function shape(name: string): string {
  return name.replace(/^(kubelet|proxy|policy|dns)\/.*/, "$1");
}
