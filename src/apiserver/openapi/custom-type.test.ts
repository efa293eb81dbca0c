import { describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { renderCustomType } from "./custom-type.ts";
import { noDescriptions } from "./descriptions.ts";

const KEEPS = { "x-kubernetes-preserve-unknown-fields": true };
const number = { type: "integer" };

/** The field `f` of a custom type in version 2 and 3. */
const field = (version: "v2" | "v3", f: JsonObject) => {
  const { schema } = renderCustomType({ type: "object", properties: { f } }, version, noDescriptions);
  return (schema as { properties: JsonObject }).properties.f;
};

describe("the type of a custom kind", () => {
  it("that keeps unknown fields is any object in version 2, and as it is defined in version 3", () => {
    const definition = { type: "object", ...KEEPS, properties: { spec: number } };
    expect(renderCustomType(definition, "v2", noDescriptions).schema).toEqual({ type: "object" });
    expect(renderCustomType(definition, "v3", noDescriptions).schema).toMatchObject({
      ...KEEPS,
      properties: { spec: number, kind: { type: "string" } },
    });
    expect(renderCustomType(undefined, "v3", noDescriptions).schema).toEqual({ type: "object" });
  });

  it.each<{ name: string; given: JsonObject; want: JsonObject }>([
    { name: "a number", given: number, want: number },
    { name: "what may be null", given: { ...number, nullable: true, maximum: 1 }, want: { maximum: 1 } },
    {
      name: "an object that keeps unknown fields",
      given: { type: "object", ...KEEPS, properties: { a: number } },
      want: KEEPS,
    },
    { name: "a list of anything", given: { type: "array", ...KEEPS, items: number }, want: KEEPS },
    {
      name: "a list",
      given: { type: "array", items: { ...number, oneOf: [{ minimum: 1 }] } },
      want: { type: "array", items: number },
    },
    {
      name: "an object with a required field that may be null",
      given: { type: "object", required: ["a", "b"], properties: { a: { ...number, nullable: true }, b: number } },
      want: { type: "object", required: ["b"], properties: { a: {}, b: number } },
    },
    {
      name: "a map",
      given: { type: "object", additionalProperties: { nullable: true } },
      want: { type: "object", additionalProperties: {} },
    },
    {
      name: "an embedded object that keeps unknown fields",
      given: { type: "object", ...KEEPS, "x-kubernetes-embedded-resource": true },
      want: { ...KEEPS, "x-kubernetes-embedded-resource": true },
    },
  ])("has in version 2: $name", ({ given, want }) => expect(field("v2", given)).toEqual(want));

  it("has the fields of each embedded object", () => {
    const given = { type: "object", ...KEEPS, "x-kubernetes-embedded-resource": true, required: ["kind"] };
    expect(field("v3", given)).toMatchObject({
      required: ["kind", "apiVersion"],
      properties: {
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { description: expect.stringContaining("Standard object's metadata.") },
      },
    });
  });
});
