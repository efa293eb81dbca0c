import { describe, expect, it } from "vitest";
import { diagramOf } from "../diagram/diagram.ts";
import { rollout } from "../testing/records.ts";
import { steps, wrapped } from "./steps.ts";

describe("a diagram as lines", () => {
  it("says the same as the diagram, in its order", () => {
    const diagram = diagramOf(rollout().records);
    const text = steps(diagram, 400).trimEnd().split("\n");
    expect(text).toHaveLength(diagram.lines.length);
    for (const [at, line] of diagram.lines.entries()) expect(text[at]).toContain(line.text);
    expect(text[0]).toBe("    0 ms  kubectl ──► apiserver  POST deployments");
  });

  it("is no wider than asked, as far as words allow", () => {
    const lines = steps(diagramOf(rollout().records), 60).split("\n");
    expect(lines.filter((line) => line.length > 60)).toEqual([]);
  });

  it.each([
    ["short", 10, "short"],
    ["one two three", 8, "one two\n  three"],
    ["one-very-long-word two", 5, "one-very-long-word\n  two"],
    ["a b c d e", 3, "a b\n  c\n  d\n  e"],
  ])("%j in %d columns", (text, width, want) => expect(wrapped(text, width, "  ")).toBe(want));
});
