/** The table of names agrees with the kinds that the server serves. */
import { describe, expect, it } from "vitest";
import { builtIn } from "./all-kinds.ts";
import { kinds } from "./kinds.ts";
import { apiVersionOf } from "./machinery/kind.ts";

const served = builtIn.map(({ group, version, kind, names, scope }) => ({
  group,
  version,
  apiVersion: apiVersionOf({ group, version }),
  kind,
  plural: names.plural,
  namespaced: scope === "Namespaced",
}));

/** Rows whose key is not their kind: another row has it. */
const RENAMED: Readonly<Record<string, string>> = {
  CoreEvent: "Event",
  HorizontalPodAutoscalerV1: "HorizontalPodAutoscaler",
};

describe("kinds", () => {
  it("has a row for each built-in kind, in the order of discovery", () => {
    expect(Object.values(kinds)).toEqual(served);
  });

  it.each(Object.entries(kinds))("%s has the name of its kind", (key, { kind }) => {
    expect(kind).toBe(RENAMED[key] ?? key);
  });
});
