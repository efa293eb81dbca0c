import { describe, expect, it } from "vitest";
import { typeSchema } from "../../facts/index.ts";
import { decode } from "../schema/decode.ts";
import type { Json, JsonObject } from "./json.ts";
import { cloneDraft, hasSentEmpty, keepSentEmpty, sentEmpty } from "./sent-empty.ts";

const policy = (spec: Json) =>
  decode(typeSchema("io.k8s.api.networking.v1.NetworkPolicy"), { spec }).value as { readonly spec: JsonObject };

describe("what was sent empty", () => {
  it.each([
    { name: "a list", spec: { egress: [] }, field: "egress", want: [] },
    { name: "a list in another order", spec: { policyTypes: ["Egress"], egress: [] }, field: "egress", want: [] },
    { name: "null", spec: { egress: null }, field: "egress", want: undefined },
    { name: "nothing", spec: {}, field: "egress", want: undefined },
    { name: "what is not empty", spec: { egress: [{}] }, field: "egress", want: undefined },
  ])("is known after decoding: $name", ({ spec, field, want }) => {
    const decoded = policy(spec);
    expect(sentEmpty(decoded.spec, field)).toEqual(want);
    expect(Object.hasOwn(decoded.spec, field)).toBe(
      field in spec && (spec[field as keyof typeof spec] ?? []).length > 0,
    );
    expect(hasSentEmpty(decoded as unknown as Json)).toBe(want !== undefined);
  });

  it("is found at any depth, and in copies of a draft", () => {
    const decoded = policy({ ingress: [{ from: [{ podSelector: { matchLabels: {} } }] }] });
    expect(hasSentEmpty(decoded as unknown as Json)).toBe(true);
    const copy = cloneDraft(decoded);
    expect(copy).toEqual(decoded);
    expect(hasSentEmpty(copy as unknown as Json)).toBe(true);
    expect(hasSentEmpty(structuredClone(decoded) as unknown as Json)).toBe(false);
  });

  it("is not found any more once the field has a value", () => {
    const decoded = policy({ policyTypes: [] }) as { spec: { policyTypes?: string[] } };
    expect(hasSentEmpty(decoded as unknown as Json)).toBe(true);
    decoded.spec.policyTypes = ["Ingress"];
    expect(hasSentEmpty(decoded as unknown as Json)).toBe(false);
    expect(sentEmpty(decoded.spec, "policyTypes")).toBeUndefined();
  });

  it("is kept for a copy on demand", () => {
    const { spec } = policy({ egress: [] });
    const copy = { ...spec };
    expect(sentEmpty(copy, "egress")).toBeUndefined();
    keepSentEmpty(spec, copy);
    expect(sentEmpty(copy, "egress")).toEqual([]);
  });
});
