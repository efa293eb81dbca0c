/** Reads what `kubectl get` prints. */
import { expect } from "vitest";

/** The cells of each row, headings first. Cells stand below their heading, and may be empty. */
export function table(output: string): string[][] {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const heading = lines[0] ?? "";
  const starts = [...heading.matchAll(/(?<=^|\s{2,}|\t)\S/g)].map(({ index }) => index);
  return lines.map((line) => starts.map((start, i) => line.slice(start, starts[i + 1]).trim()));
}

/** Of an object that a test has just made. */
export const young = expect.stringMatching(/^\d+(s|m\d*s?)$/) as string;
