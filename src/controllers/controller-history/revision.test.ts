import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import {
  inOrder,
  keeps,
  nextNumber,
  type Revision,
  revisionData,
  revisionHash,
  revisionName,
  templateOf,
  tooMany,
} from "./index.ts";

const reference = fileURLToPath(
  new URL("../../../../shared/reference/tables/controllerrevisions.apps_v1.json", import.meta.url),
);
const template = { metadata: { labels: { app: "db" } }, spec: { containers: [{ name: "c", image: "i" }] } };
const revision = (name: string, number: number, of = template): Revision => ({
  metadata: { name, creationTimestamp: "2030-01-01T00:00:00Z" },
  data: revisionData(of),
  revision: number,
});

describe("a revision", () => {
  it("keeps the template, and gives it back", () => {
    expect(templateOf(revision("a", 1))).toEqual(template);
    expect(keeps(revision("a", 1), template)).toBe(true);
    expect(keeps(revision("a", 1), { ...template, metadata: { labels: { app: "other" } } })).toBe(false);
    expect(templateOf({ metadata: {}, revision: 1 })).toBeUndefined();
    expect(templateOf({ metadata: {}, revision: 1, data: "text" })).toBeUndefined();
  });

  it("has a name that follows from its data and from collisions, not from the order of keys", () => {
    const data = revisionData(template);
    const { spec, metadata } = template;
    expect(revisionHash(revisionData({ spec, metadata }), 0)).toBe(revisionHash(data, 0));
    expect(revisionHash(data, 1)).not.toBe(revisionHash(data, 0));
    expect(revisionName("x".repeat(250), "hash")).toBe(`${"x".repeat(223)}-hash`);
  });

  it("has its keys in order", () => {
    const spec = { restartPolicy: "Always" as const, containers: [{ name: "c", image: "i" }] };
    expect(JSON.stringify(revisionData({ spec, metadata: { name: "n", labels: { b: "1", a: "2" } } }))).toBe(
      '{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"a":"2","b":"1"},"name":"n"},"spec":{"containers":[{"image":"i","name":"c"}],"restartPolicy":"Always"}}}}',
    );
  });

  it("counts on", () => {
    expect(nextNumber([])).toBe(1);
    expect(nextNumber([revision("a", 4), revision("b", 2)])).toBe(5);
    const names = inOrder([revision("c", 2), revision("b", 2), revision("a", 7)]).map(({ metadata }) => metadata.name);
    expect(names).toEqual(["b", "c", "a"]);
  });

  it.each([
    { limit: 10, lives: [], gone: [] },
    { limit: 2, lives: [], gone: ["a", "b"] },
    { limit: 0, lives: ["a", "d"], gone: ["b", "c"] },
    { limit: 1, lives: ["d"], gone: ["a", "b"] },
  ])("past ones go, oldest first: at most $limit, $lives live", ({ limit, lives, gone }) => {
    const all = ["a", "b", "c", "d"].map((name, at) => revision(name, at + 1));
    const found = tooMany(all, limit, ({ metadata }) => lives.some((name) => name === metadata.name));
    expect(found.map(({ metadata }) => metadata.name)).toEqual(gone);
  });

  it.skipIf(!existsSync(reference))("is called as a real StatefulSet's is (../shared/reference)", () => {
    const { rows } = JSON.parse(readFileSync(reference, "utf8")) as { rows: { object: Revision }[] };
    const found = rows.filter(({ object }) => object.metadata.ownerReferences?.[0]?.kind === "StatefulSet");
    expect(found.length).toBeGreaterThan(0);
    for (const { object } of found) {
      const hash = revisionHash(object.data as JsonObject, 0);
      expect(revisionName(object.metadata.ownerReferences?.[0]?.name ?? "", hash)).toBe(object.metadata.name);
    }
  });
});
