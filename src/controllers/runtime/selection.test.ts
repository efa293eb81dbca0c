import { describe, expect, it } from "vitest";
import { defineController } from "./controller.ts";
import { selected } from "./selection.ts";

const named = (name: string, offByDefault = false) =>
  defineController({ name, offByDefault, bind: () => ({ sources: [], reconcile: () => undefined }) });
const all = [named("a"), named("b"), named("c", true)];

describe("--controllers", () => {
  it.each([
    { wanted: ["*"], want: "a b" },
    { wanted: ["*", "-b"], want: "a" },
    { wanted: ["*", "c"], want: "a b c" },
    { wanted: ["c"], want: "c" },
    { wanted: [], want: "" },
  ])("$wanted", ({ wanted, want }) => {
    expect(
      selected(all, wanted)
        .map(({ name }) => name)
        .join(" "),
    ).toBe(want);
  });

  it("refuses a name that it does not know", () => {
    expect(() => selected(all, ["*", "-nope"])).toThrow('"nope" is not in the list of known controllers');
  });
});
