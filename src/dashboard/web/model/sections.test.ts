import { describe, expect, it } from "vitest";
import { sectionsOf } from "./sections.ts";

describe("sections of an object", () => {
  it("has status and spec first, and nothing empty", () => {
    const object = { kind: "A", metadata: { name: "x" }, extra: 1, spec: { a: 1 }, data: {}, status: { b: 2 } };
    expect(sectionsOf(object, false)).toEqual([
      { title: "status", value: { b: 2 } },
      { title: "spec", value: { a: 1 } },
      { title: "extra", value: 1 },
    ]);
  });

  it("has the sizes of a Secret's values only", () => {
    const secret = { type: "Opaque", data: { a: btoa("four"), b: btoa("three") } };
    expect(sectionsOf(secret, true)).toEqual([
      { title: "data", value: { a: "4 bytes", b: "5 bytes" } },
      { title: "type", value: "Opaque" },
    ]);
  });
});
