import { describe, expect, it } from "vitest";
import { typeSchema } from "../../facts/index.ts";
import type { JsonObject } from "../json/json.ts";
import { updateManagedFields } from "./index.ts";
import { OwnedLevel, OwnedLevels } from "./owned-level.ts";
import { compareElements, compareText } from "./path-element.ts";

const schema = typeSchema("io.k8s.api.core.v1.ConfigMap");

function ownedOf(data: JsonObject): JsonObject | undefined {
  const context = { apiVersion: "v1", schema, manager: "tester", now: "2024-01-01T00:00:00Z", live: undefined };
  const [entry] = updateManagedFields({ ...context, updated: { metadata: { name: "a" }, data } });
  return entry?.fieldsV1 as JsonObject | undefined;
}

describe("objects that own alike", () => {
  it("share one frozen value", () => {
    const first = ownedOf({ a: "1", b: "2" });
    const second = ownedOf({ a: "3", b: "4" });
    expect(first).toEqual({ "f:data": { ".": {}, "f:a": {}, "f:b": {} } });
    expect(second).toBe(first);
    expect([first, first?.["f:data"]].map(Object.isFrozen)).toEqual([true, true]);
  });

  it("are distinguished, however many others there were", () => {
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 20; i++)
        expect(ownedOf({ [`k${i}`]: "v" })).toEqual({ "f:data": { ".": {}, [`f:k${i}`]: {} } });
    }
  });
});

describe("levels at one place", () => {
  const levelOf = (...names: readonly string[]) => {
    const level = new OwnedLevel();
    for (const name of names) level.add(`f:${name}`, {}, compareText);
    return level;
  };
  it("differ by whether the path itself is owned", () => {
    const levels = new OwnedLevels();
    const below = Object.freeze({});
    const one = () => {
      const level = new OwnedLevel();
      level.add("f:a", below, compareText);
      return level;
    };
    expect(levels.written(one(), true)).toEqual({ ".": {}, "f:a": {} });
    expect(levels.written(one(), false)).toEqual({ "f:a": {} });
    expect(levels.written(one(), false)).toBe(levels.written(one(), false));
  });
  it("are nothing where nothing is owned", () => {
    expect(new OwnedLevels().written(levelOf(), false)).toBeUndefined();
    expect(new OwnedLevels().written(levelOf(), true)).toEqual({});
  });
  it("are sorted, and have each element once, however many there are", () => {
    const level = new OwnedLevel();
    const elements = Array.from({ length: 100 }, (_, i) => `k:{"name":"n${(i * 37) % 100}"}`);
    for (const element of [...elements, ...elements])
      if (!level.merged(element)) level.add(element, Object.freeze({ "f:a": {} }), compareElements);
    const written = new OwnedLevels().written(level, false) ?? {};
    expect(Object.keys(written)).toEqual([...elements].sort(compareElements));
    expect(Object.values(written)).toEqual(elements.map(() => ({})));
  });
  it("are not remembered where they are large", () => {
    const levels = new OwnedLevels();
    const many = Array.from({ length: 200 }, (_, i) => `k${i}`);
    const first = levels.written(levelOf(...many), false);
    expect(Object.keys(first ?? {})).toHaveLength(200);
    expect(levels.written(levelOf(...many), false)).not.toBe(first);
  });
});
