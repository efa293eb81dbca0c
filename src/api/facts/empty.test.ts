import { describe, expect, it } from "vitest";
import { decode } from "../machinery/schema/decode.ts";
import { emptySent } from "../machinery/schema/empty.ts";
import { internalForm, sameInternally, storedForm, typeSchema } from "./index.ts";

const type = "core.v1.Container";
const sent = { name: "c", ports: [], resources: { requests: {} } };
const decoded = decode(typeSchema(`io.k8s.api.${type}`), sent).value as { resources: object };

describe("empty lists and maps that a client sent", () => {
  it("are left out of the object, and noted", () => {
    expect(JSON.stringify(decoded)).toBe('{"name":"c","resources":{}}');
    expect([emptySent(decoded, "ports"), emptySent(decoded.resources, "requests")]).toEqual([[], {}]);
    expect([emptySent(decoded, "env"), emptySent(undefined, "ports")]).toEqual([undefined, undefined]);
  });

  it("are in a copy too, unless it has a value there", () => {
    expect(emptySent({ ...decoded }, "ports")).toEqual([]);
    expect(emptySent({ ...decoded, ports: undefined }, "ports")).toBeUndefined();
  });

  it("are printed, but equal none", () => {
    expect(internalForm(type, decoded)).toMatchObject({ Ports: [], Env: null, Resources: { Requests: {} } });
    expect(storedForm(type, decoded)).toMatchObject({ Ports: null, Resources: { Requests: null } });
    expect(sameInternally(type, decoded, { name: "c" })).toBe(true);
    expect(sameInternally(type, decoded, { name: "d" })).toBe(false);
  });
});
