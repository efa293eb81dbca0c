import { describe, expect, it } from "vitest";
import { sentEmpty } from "../machinery/json/sent-empty.ts";
import { decode } from "../machinery/schema/decode.ts";
import { internalForm, sameInternally, storedForm, typeSchema } from "./index.ts";

const type = "core.v1.Container";
const sent = { name: "c", ports: [], resources: { requests: {} } };
const decoded = decode(typeSchema(`io.k8s.api.${type}`), sent).value as { resources: object };

describe("empty lists and maps that a client sent", () => {
  it("are left out of the object, and noted", () => {
    expect(JSON.stringify(decoded)).toBe('{"name":"c","resources":{}}');
    expect([sentEmpty(decoded, "ports"), sentEmpty(decoded.resources, "requests")]).toEqual([[], {}]);
    expect([sentEmpty(decoded, "env"), sentEmpty(undefined, "ports")]).toEqual([undefined, undefined]);
  });

  it("are printed, but equal none", () => {
    expect(internalForm(type, decoded)).toMatchObject({ Ports: [], Env: null, Resources: { Requests: {} } });
    expect(storedForm(type, decoded)).toMatchObject({ Ports: null, Resources: { Requests: null } });
    expect(sameInternally(type, decoded, { name: "c" })).toBe(true);
    expect(sameInternally(type, decoded, { name: "d" })).toBe(false);
  });
});
