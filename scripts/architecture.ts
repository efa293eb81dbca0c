/**
 * `node scripts/architecture.ts`: writes the drawing and the table of folders in docs/architecture.md from the table of
 * layers. test/docs/architecture.test.ts fails while the page differs.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Layer, layers, purposes } from "../test/layers/table.ts";

export const PAGE = resolve(import.meta.dirname, "../docs/architecture.md");
const BEGIN = "<!-- written by scripts/architecture.ts: begin -->";
const END = "<!-- written by scripts/architecture.ts: end -->";

/** The page with its drawing and table as the layers have them. */
export function withLayers(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`${PAGE} has no lines "${BEGIN}" and "${END}".`);
  return `${page.slice(0, begin)}${BEGIN}\n\n${drawing()}\n\n${table()}\n\n${page.slice(end)}`;
}

/** A line for each level: a folder stands above all that it imports. */
function drawing(): string {
  const levels = Map.groupBy(Object.keys(layers), levelOf);
  const lines = [...levels].sort(([a], [b]) => b - a).map(([, folders]) => `    ${folders.join(" · ")}`);
  return lines.join("\n      ▼\n");
}

function levelOf(folder: string): number {
  return Math.max(0, ...(layers[folder]?.folders ?? []).map((below) => levelOf(below) + 1));
}

function table(): string {
  const rows = Object.entries(layers).map(([folder, layer]) => `| ${cells(folder, layer).join(" | ")} |`);
  return ["| folder | what it is | may import | packages |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

function cells(folder: string, { folders, packages }: Layer): string[] {
  const purpose = purposes[folder];
  if (purpose === undefined) throw new Error(`src/${folder} has no purpose in test/layers/table.ts.`);
  return [`[${folder}](../src/${folder}/README.md)`, purpose, folders.join(", "), packages.join(", ")];
}

if (import.meta.main) writeFileSync(PAGE, withLayers(readFileSync(PAGE, "utf8")));
