/** Reads the table of feature gates: see gates-table.ts for its lines. */
import { table } from "#base";
import { gatesTable } from "./gates-table.ts";
import { isOlder, type Version } from "./version.ts";

/** As metrics and help texts write it: GA has no word. */
export type Stage = "ALPHA" | "BETA" | "" | "DEPRECATED";

export interface GateSpec {
  readonly since: Version;
  readonly stage: Stage;
  readonly default: boolean;
  readonly locked: boolean;
}

export interface Gate {
  readonly name: string;
  /** Oldest first. */
  readonly specs: readonly GateSpec[];
  /** It can be on only if all of these are. */
  readonly needs: readonly string[];
}

const STAGES: Readonly<Record<string, Stage>> = table({ a: "ALPHA", b: "BETA", g: "", d: "DEPRECATED" });
const SPEC = /^([abgd])(\d+)(!?)$/i;

/** By name. */
export const gates: ReadonlyMap<string, Gate> = new Map(
  gatesTable
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => readGate(line))
    .map((gate) => [gate.name, gate]),
);

function readGate(line: string): Gate {
  const [name = "", ...words] = line.split(" ");
  const needs = words.find((word) => word.startsWith("needs="))?.slice("needs=".length) ?? "";
  return {
    name,
    specs: words.filter((word) => !word.startsWith("needs=")).map((word) => readSpec(word, line)),
    needs: needs === "" ? [] : needs.split(","),
  };
}

function readSpec(word: string, line: string): GateSpec {
  const [, letter = "", minor, locked] = SPEC.exec(word) ?? [];
  const stage = STAGES[letter.toLowerCase()];
  if (stage === undefined) throw new Error(`a line of the table of feature gates is not understood: ${line}`);
  return {
    since: { major: 1, minor: Number(minor) },
    stage,
    default: letter !== letter.toLowerCase(),
    locked: locked === "!",
  };
}

/** What is true of a gate at a version. Undefined: the gate is newer. */
export function specAt({ specs }: Gate, version: Version): GateSpec | undefined {
  return specs.findLast(({ since }) => !isOlder(version, since));
}
