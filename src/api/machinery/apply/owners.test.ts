import { describe, expect, it } from "vitest";
import { at } from "../errors/field-path.ts";
import type { Json, JsonObject } from "../json/json.ts";
import type { ManagedFieldsEntry } from "../schema/object.ts";
import {
  fieldPath,
  managedFieldsOf,
  managerName,
  parentManagedFields,
  scaleManagedFields,
  settleTimes,
  validateManagedFields,
  validateManagerName,
} from "./index.ts";
import { entriesOf, ownersOf, parseOwners } from "./owners.ts";

function entry(more: Partial<ManagedFieldsEntry>): ManagedFieldsEntry {
  return {
    manager: "m",
    operation: "Update",
    apiVersion: "v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:a": {} },
    ...more,
  };
}

describe("managedFields", () => {
  it("are sorted: Apply first, then by time, name, apiVersion and subresource", () => {
    const sorted = [
      entry({ operation: "Apply", manager: "z", time: "2024-01-02T00:00:00Z" }),
      entry({ manager: "y" }),
      entry({ manager: "b", time: "2024-01-01T00:00:00Z" }),
      entry({ manager: "a", time: "2024-01-01T00:00:01Z" }),
      entry({ manager: "b", time: "2024-01-01T00:00:01Z", apiVersion: "v0" }),
      entry({ manager: "b", time: "2024-01-01T00:00:01Z", apiVersion: "v2" }),
      entry({ manager: "b", time: "2024-01-01T02:00:01+02:00", apiVersion: "v2", subresource: "status" }),
    ];
    expect(entriesOf(ownersOf(sorted.toReversed()), undefined)).toEqual(sorted);
    expect(entriesOf(ownersOf(sorted), sorted)).toBe(sorted);
  });

  it("count once for each owner", () => {
    const last = entry({ fieldsV1: { "f:b": {} } });
    expect(entriesOf(ownersOf([entry({}), last]), undefined)).toEqual([last]);
    expect(ownersOf([entry({ operation: "Apply" }), entry({ operation: "Apply", apiVersion: "v2" })])).toHaveLength(1);
    expect(ownersOf([entry({}), entry({ apiVersion: "v2" }), entry({ subresource: "status" })])).toHaveLength(3);
  });

  it.each([
    { sent: { operation: "Foo" }, want: "operation must be `Apply` or `Update`" },
    { sent: { apiVersion: "" }, want: "apiVersion must not be empty" },
    { sent: { fieldsType: "" }, want: "missing fieldsType in managed fields entry 1" },
    { sent: { fieldsType: "FieldsV2" }, want: 'invalid fieldsType "FieldsV2" in managed fields entry 1' },
    {
      sent: { fieldsV1: { xyz: {} } },
      want: 'error decoding versioned set from {"manager":"m","operation":"Update","apiVersion":"v1"}: error decoding set: missing colon: xyz',
    },
  ])("are refused: $want", ({ sent, want }) => {
    expect(() => parseOwners([entry({}), entry(sent)])).toThrow(want);
  });

  it("keep their times when times are all that would be stored", () => {
    const object = (time: string, more: JsonObject = {}): JsonObject => ({
      metadata: { managedFields: [entry({ time })] as unknown as Json },
      ...more,
    });
    const live = object("2024-01-01T00:00:00Z", { data: { a: "b" } });
    expect(settleTimes(live, object("2024-01-02T00:00:00Z", { data: { a: "b" } }))).toBe(managedFieldsOf(live));
    const changed = object("2024-01-02T00:00:00Z", { data: { a: "c" } });
    expect(settleTimes(live, changed)).toBe(managedFieldsOf(changed));
  });

  it("are validated as part of metadata", () => {
    const errors = validateManagedFields(
      [entry({}), entry({ operation: "X", fieldsType: "Y", manager: "a\tb", subresource: "s".repeat(257) })],
      at("metadata", "managedFields"),
    );
    expect(errors.map(({ field, detail }) => `${field}: ${detail}`)).toEqual([
      "metadata.managedFields[1].operation: must be `Apply` or `Update`",
      "metadata.managedFields[1].fieldsType: must be `FieldsV1`",
      "metadata.managedFields[1].manager: invalid character U+0009 (at position 1)",
      "metadata.managedFields[1].subresource: may not be more than 256 bytes",
    ]);
  });
});

describe("the name of a manager", () => {
  it.each([
    { fieldManager: "given", userAgent: "kubectl/v1.36", want: "given" },
    { fieldManager: "", userAgent: "my-tool/v1.2 (linux) something", want: "my-tool" },
    { fieldManager: undefined, userAgent: "kubectl", want: "kubectl" },
    { fieldManager: undefined, userAgent: undefined, want: "unknown" },
    { fieldManager: undefined, userAgent: "a\u0000b/1", want: "ab" },
    { fieldManager: undefined, userAgent: "x".repeat(200), want: "x".repeat(128) },
    { fieldManager: undefined, userAgent: "é".repeat(100), want: "é".repeat(64) },
  ])("is $want", ({ fieldManager, userAgent, want }) => {
    expect(managerName(fieldManager, userAgent)).toBe(want);
  });

  it.each([
    { name: "ok name", want: [] },
    { name: "x".repeat(129), want: ["may not be more than 128 bytes"] },
    { name: "é\n", want: ["invalid character U+000A (at position 2)"] },
  ])("is checked: $want", ({ name, want }) => {
    expect(validateManagerName(name, "fieldManager").map(({ detail }) => detail)).toEqual(want);
  });
});

describe("the owners of replicas, as the scale shows them", () => {
  const paths = new Map([["apps/v1", fieldPath("spec.replicas")]]);
  const replicas = { "f:spec": { "f:replicas": {} } };
  const applier = entry({
    manager: "a",
    operation: "Apply",
    apiVersion: "apps/v1",
    fieldsV1: { "f:spec": { "f:paused": {}, "f:replicas": {} } },
  });
  const other = entry({ manager: "b", apiVersion: "apps/v1", fieldsV1: { "f:spec": { "f:paused": {} } } });

  it("have only that field, in the scale's version", () => {
    expect(scaleManagedFields([applier, other], paths)).toEqual([
      { ...applier, apiVersion: "autoscaling/v1", fieldsV1: replicas },
    ]);
  });

  it("lose it to the scaler", () => {
    const scaler = entry({ manager: "hpa", apiVersion: "autoscaling/v1", subresource: "scale", fieldsV1: replicas });
    expect(parentManagedFields([applier, other], [scaler], paths, "apps/v1")).toEqual([
      { ...applier, fieldsV1: { "f:spec": { "f:paused": {} } } },
      other,
      { ...scaler, apiVersion: "apps/v1" },
    ]);
  });

  it("keep it when the scale does not change", () => {
    const parent = [applier, other];
    expect(parentManagedFields(parent, scaleManagedFields(parent, paths), paths, "apps/v1")).toBe(parent);
  });
});
