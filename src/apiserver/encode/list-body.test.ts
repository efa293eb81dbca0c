import { describe, expect, it } from "vitest";
import { builtIn, type Kind, type KubeObject } from "#api";
import { encodeForStore, StoredObject } from "../cache/stored-object.ts";
import { listBody } from "./list-body.ts";

const configMaps = builtIn.find(({ group, kind }) => group === "" && kind === "ConfigMap") as Kind;
const { goType: _, ...schema } = configMaps.schema;
const custom: Kind = { ...configMaps, schema };

function stored(name: string, revision: number, data = ""): StoredObject {
  const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name }, data: { text: data } } as KubeObject;
  return new StoredObject({ key: `/${name}`, revision, value: encodeForStore(object) });
}

describe("listBody", () => {
  it.each([
    { name: "nothing", sizes: [] },
    { name: "one", sizes: [10] },
    { name: "some", sizes: [10, 0, 300] },
    { name: "more than a piece holds", sizes: Array.from({ length: 700 }, (_, i) => i) },
    { name: "one that is larger than a piece", sizes: [5, 600_000, 5] },
  ])("$name", ({ sizes }) => {
    const objects = sizes.map((size, i) => stored(`größe-${i}`, i + 1, "x".repeat(size)));
    const text = Buffer.concat(listBody(configMaps, { resourceVersion: "9" }, objects)).toString("utf8");
    expect(text.endsWith("\n")).toBe(true);
    const list = JSON.parse(text);
    expect(list).toMatchObject({ kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "9" } });
    const items = objects.map(({ object: { kind: _kind, apiVersion: _version, ...item } }) => item);
    expect(list.items).toEqual(items);
  });

  it("items of custom resources say their kind", () => {
    const objects = [stored("a", 1), stored("b", 2)];
    const list = JSON.parse(Buffer.concat(listBody(custom, {}, objects)).toString("utf8"));
    expect(list.items).toEqual(objects.map(({ object }) => object));
  });

  it("comes in pieces, none of them empty", () => {
    const objects = Array.from({ length: 100 }, (_, i) => stored(`n-${i}`, i + 1, "x".repeat(10_000)));
    const pieces = listBody(configMaps, {}, objects);
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.every(({ length }) => length > 0)).toBe(true);
  });
});
