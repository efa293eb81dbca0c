import { describe, expect, it } from "vitest";
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from "../../types/apiextensions-v1.ts";
import { definition, preserving } from "../testing/definitions.ts";
import { acceptNames } from "./conditions.ts";

const names = (name: string, more: Partial<CustomResourceDefinitionNames> = {}): CustomResourceDefinitionNames => ({
  plural: `${name}s`,
  singular: name,
  kind: name.toUpperCase(),
  listKind: `${name.toUpperCase()}LIST`,
  ...more,
});

function asking(
  asked: CustomResourceDefinitionNames,
  had?: CustomResourceDefinitionNames,
  group = "example.com",
): CustomResourceDefinition {
  const made = definition(preserving, {}, { group, names: asked });
  return had === undefined ? made : { ...made, status: { acceptedNames: had } };
}

const taken = asking(names("a"), names("a", { shortNames: ["s"] }));

describe("names", () => {
  it("go to the first definition that asks", () => {
    const { names: given, condition } = acceptNames(asking(names("b", { shortNames: ["t"], categories: ["all"] })), [
      taken,
    ]);
    expect(given).toEqual(names("b", { shortNames: ["t"], categories: ["all"] }));
    expect(condition).toEqual({ status: "True", reason: "NoConflicts", message: "no conflicts found" });
  });

  it.each<readonly [string, CustomResourceDefinitionNames, string, string, object]>([
    ["plural", names("b", { plural: "as" }), "PluralConflict", '"as" is already in use', { plural: "" }],
    ["singular", names("b", { singular: "s" }), "SingularConflict", '"s" is already in use', { kind: "B" }],
    ["kind", names("b", { kind: "A" }), "KindConflict", '"A" is already in use', { kind: "", plural: "bs" }],
    ["list kind", names("b", { listKind: "ALIST" }), "ListKindConflict", '"ALIST" is already in use', { kind: "B" }],
    [
      "short names",
      names("b", { shortNames: ["s", "a", "x"] }),
      "ShortNamesConflict",
      '["s" is already in use, "a" is already in use]',
      { kind: "B" },
    ],
  ])("%s that are taken are not", (_, asked, reason, message, given) => {
    const outcome = acceptNames(asking(asked), [taken]);
    expect(outcome.condition).toEqual({ status: "False", reason, message });
    expect(outcome.names).toMatchObject(given);
  });

  it("stay with the definition that has them", () => {
    const changed = asking(names("b", { kind: "A" }), names("b"));
    expect(acceptNames(changed, [taken, changed]).names.kind).toBe("B");
    expect(acceptNames(taken, [taken]).condition.status).toBe("True");
  });

  it("of another group do not matter", () => {
    expect(acceptNames(asking(names("a"), undefined, "other.com"), [taken]).condition.status).toBe("True");
  });
});
