import { describe, expect, it } from "vitest";
import { storeSpec } from "./store-spec.ts";

const etcd = { kind: "etcd", endpoints: ["http://127.0.0.1:2379"] } as const;

describe("the store of a configuration", () => {
  it.each([
    { prefix: undefined, to: undefined },
    { prefix: "/registry", to: undefined },
    { prefix: "registry/", to: undefined },
    { prefix: "/mine", to: "/mine/" },
    { prefix: "mine", to: "/mine/" },
    { prefix: "/a//b/", to: "/a/b/" },
    { prefix: "", to: "/" },
  ])("has its keys below $prefix", ({ prefix, to }) => {
    const moved = to === undefined ? undefined : { from: "/registry/", to };
    expect(storeSpec({ ...etcd, prefix })).toEqual({ ...etcd, moved });
  });

  it("is embedded only where there is a directory", () => {
    expect(storeSpec({ kind: "embedded" }, "/data/store")).toEqual({ kind: "embedded", dir: "/data/store" });
    expect(() => storeSpec({ kind: "embedded" })).toThrow("a standalone API server needs etcd.");
  });
});
