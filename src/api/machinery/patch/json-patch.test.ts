import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toStatus } from "../errors/status.ts";
import type { Json } from "../json/json.ts";
import { applyJsonPatch, decodeJsonPatch, type JsonPatch } from "./json-patch.ts";

const document = { list: ["a", "b"], map: { x: 1, "a/b": 2, "m~n": 3 }, none: null };

describe("JSON patches", () => {
  it.each<[string, JsonPatch, Json]>([
    ["add a key", [{ op: "add", path: "/map/y", value: 2 }], { ...document, map: { ...document.map, y: 2 } }],
    ["add over a key", [{ op: "add", path: "/map/x", value: 2 }], { ...document, map: { ...document.map, x: 2 } }],
    ["add without a value", [{ op: "add", path: "/y" }], { ...document, y: null }],
    ["add to a list", [{ op: "add", path: "/list/0", value: "c" }], { ...document, list: ["c", "a", "b"] }],
    ["add behind a list", [{ op: "add", path: "/list/2", value: "c" }], { ...document, list: ["a", "b", "c"] }],
    ["append", [{ op: "add", path: "/list/-", value: "c" }], { ...document, list: ["a", "b", "c"] }],
    [
      "add at an index from the end",
      [{ op: "add", path: "/list/-1", value: "c" }],
      { ...document, list: ["a", "b", "c"] },
    ],
    ["remove a key", [{ op: "remove", path: "/map/x" }], { ...document, map: { "a/b": 2, "m~n": 3 } }],
    ["remove an item", [{ op: "remove", path: "/list/0" }], { ...document, list: ["b"] }],
    ["remove the last item", [{ op: "remove", path: "/list/-1" }], { ...document, list: ["a"] }],
    ["replace", [{ op: "replace", path: "/map/x", value: [] }], { ...document, map: { ...document.map, x: [] } }],
    [
      "replace a missing key",
      [{ op: "replace", path: "/map/no", value: 1 }],
      { ...document, map: { ...document.map, no: 1 } },
    ],
    ["replace null", [{ op: "replace", path: "/none", value: 1 }], { ...document, none: 1 }],
    ["replace an item", [{ op: "replace", path: "/list/1", value: "z" }], { ...document, list: ["a", "z"] }],
    [
      "escaped keys",
      [
        { op: "replace", path: "/map/a~1b", value: 0 },
        { op: "remove", path: "/map/m~0n" },
      ],
      { ...document, map: { x: 1, "a/b": 0 } },
    ],
    [
      "move",
      [{ op: "move", from: "/map/x", path: "/list/0" }],
      { ...document, map: { "a/b": 2, "m~n": 3 }, list: [1, "a", "b"] },
    ],
    [
      "copy",
      [
        { op: "copy", from: "/list", path: "/more" },
        { op: "add", path: "/more/-", value: "c" },
      ],
      { ...document, more: ["a", "b", "c"] },
    ],
    ["test", [{ op: "test", path: "/map", value: { "m~n": 3, "a/b": 2, x: 1 } }], document],
    ["test of what is missing for null", [{ op: "test", path: "/map/nothing", value: null }], document],
    ["no operations", [], document],
    ["a path without a slash in front", [{ op: "add", path: "zzz/y", value: 1 }], { ...document, y: 1 }],
    [
      "a key that is no key elsewhere",
      [{ op: "add", path: "/map/__proto__", value: 1 }],
      { ...document, map: JSON.parse('{"x":1,"a/b":2,"m~n":3,"__proto__":1}') as Json },
    ],
  ])("%s", (_, patch, want) => {
    const before = structuredClone(document);
    expect(applyJsonPatch(document, patch)).toEqual(want);
    expect(document).toEqual(before);
  });

  it.each<[JsonPatch[number], string]>([
    [{ op: "frobnicate", path: "/a" }, "Unexpected kind: frobnicate"],
    [{ path: "/a" }, "Unexpected kind: unknown"],
    [{ op: "add", value: 1 }, "add operation failed to decode path: missing value"],
    [
      { op: "add", path: "/no/x", value: 1 },
      'add operation does not apply: doc is missing path: "/no/x": missing value',
    ],
    [{ op: "add", path: "", value: 1 }, 'add operation does not apply: doc is missing path: "": missing value'],
    [
      { op: "add", path: "/none/x", value: 1 },
      'add operation does not apply: doc is missing path: "/none/x": missing value',
    ],
    [
      { op: "add", path: "/list/3", value: 1 },
      "error in add for path: '/list/3': Unable to access invalid index: 3: invalid index referenced",
    ],
    [
      { op: "add", path: "/list/x", value: 1 },
      "error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax",
    ],
    [
      { op: "remove", path: "/map/no" },
      "error in remove for path: '/map/no': Unable to remove nonexistent key: no: missing value",
    ],
    [
      { op: "remove", path: "/list/2" },
      "error in remove for path: '/list/2': Unable to access invalid index: 2: invalid index referenced",
    ],
    [
      { op: "replace", path: "/list/7/x", value: 1 },
      "replace operation does not apply: doc is missing path: /list/7/x: missing value",
    ],
    [
      { op: "move", from: "/map/no", path: "/x" },
      "error in move for path: 'no': Unable to remove nonexistent key: no: missing value",
    ],
    [{ op: "move", path: "/x" }, "move operation failed to decode from: missing value"],
    [
      { op: "copy", from: "/map/no", path: "/x" },
      "error in copy for from: '/map/no': unable to get nonexistent key: no: missing value",
    ],
    [
      { op: "copy", from: "/map", path: "/no/x" },
      "copy operation does not apply: doc is missing destination path: /no/x: missing value",
    ],
    [{ op: "test", path: "/map/x", value: 2 }, "testing value /map/x failed: test failed"],
    [{ op: "test", path: "/map/x" }, "testing value /map/x failed: test failed"],
    [{ op: "test", path: "/no/x", value: 2 }, "test operation does not apply: is missing path: /no/x: missing value"],
  ])("%j does not apply", (operation, message) => expect(() => applyJsonPatch(document, [operation])).toThrow(message));

  it.each<[Json, number, string]>([
    [
      { op: "add" },
      400,
      "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    ],
    [[1], 400, "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"],
    [
      Array.from({ length: 10_001 }, () => ({})),
      413,
      "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    ],
  ])("%# is no patch", (value, code, message) => {
    let thrown: unknown;
    try {
      decodeJsonPatch(value);
    } catch (error) {
      thrown = error;
    }
    expect(toStatus(thrown)).toMatchObject({ code, message });
  });

  it("may not copy without end", () => {
    const big = { a: "x".repeat(1024 * 1024) };
    const patch = ["/b", "/c", "/d"].map((path) => ({ op: "copy", from: "/a", path }));
    expect(() => applyJsonPatch(big, patch)).toThrow(
      "Unable to complete the copy, the accumulated size increase of copy is 3145734, exceeding the limit 3145728",
    );
  });

  it("sorts the keys of what it passed through, and of nothing else", () => {
    const patched = applyJsonPatch({ b: { z: 1, a: 2 }, a: { z: 1, a: 2 } }, [
      { op: "replace", path: "/a/a", value: 3 },
    ]);
    expect(JSON.stringify(patched)).toBe('{"a":{"a":3,"z":1},"b":{"z":1,"a":2}}');
  });

  it("copies what it passed through on the way to the target with sorted keys", () => {
    const patched = applyJsonPatch({ b: { z: 1, a: 2 } }, [{ op: "copy", from: "/b", path: "/b/c" }]);
    expect(JSON.stringify(patched)).toBe('{"b":{"a":2,"c":{"a":2,"z":1},"z":1}}');
  });
});

describe("JSON patches always", () => {
  const value = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
  const object = fc.dictionary(fc.stringMatching(/^[a-z~/]{1,3}$/), value) as fc.Arbitrary<{ [key: string]: Json }>;
  const pointer = (key: string) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;

  it("end where they would move more items than is reasonable", () => {
    const list = Array.from({ length: 200_000 }, () => 0);
    const inserts = Array.from({ length: 1_000 }, () => ({ op: "add", path: "/list/0", value: 1 }));
    expect(() => applyJsonPatch({ list }, inserts)).toThrow("the operations move more than 100000000 items of lists");
  });

  it("undo an add with a remove", () => {
    fc.assert(
      fc.property(object, fc.constantFrom("new", "~1", "a/b~"), value, (given, key, added) => {
        if (Object.hasOwn(given, key)) return;
        const patched = applyJsonPatch(given, [
          { op: "add", path: pointer(key), value: added },
          { op: "test", path: pointer(key), value: added },
          { op: "remove", path: pointer(key) },
        ]);
        expect(patched).toEqual(given);
      }),
    );
  });

  it("do not tell a move from a copy and a remove", () => {
    fc.assert(
      fc.property(object, (given) => {
        const [from] = Object.keys(given);
        if (from === undefined) return;
        const path = pointer("target!");
        const moved = applyJsonPatch(given, [{ op: "move", from: pointer(from), path }]);
        const copied = applyJsonPatch(given, [
          { op: "copy", from: pointer(from), path },
          { op: "remove", path: pointer(from) },
        ]);
        expect(copied).toEqual(moved);
      }),
    );
  });
});
