import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { apps, core } from "#api";
import { fnv32, fnv32a, safeName, templateHash } from "./index.ts";

const reference = fileURLToPath(new URL("../../../../shared/reference/tables/", import.meta.url));

function recorded<T>(file: string): readonly T[] {
  const { rows } = JSON.parse(readFileSync(`${reference}${file}`, "utf8")) as { rows: { object: T }[] };
  return rows.map(({ object }) => object);
}

describe("FNV", () => {
  it.each([
    ["", 0x811c9dc5, 0x811c9dc5],
    ["a", 0x050c5d7e, 0xe40c292c],
    ["foobar", 0x31f0b262, 0xbf9cf968],
  ])("of %j", (text, multiplied, added) => {
    expect([fnv32(text), fnv32a(text)]).toEqual([multiplied, added]);
  });

  it("makes names without vowels", () => {
    expect(safeName(0)).toBe("4");
    expect(safeName(1234567890)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{10}$/);
  });
});

const template: core.PodTemplateSpec = {
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "c", image: "i:1" }] },
};

describe("the hash of a template", () => {
  it("is the same for the same template, whatever the order of its keys", () => {
    const same = { spec: { containers: [{ image: "i:1", name: "c" }] }, metadata: { labels: { app: "web" } } };
    expect(templateHash(same, undefined)).toBe(templateHash(template, undefined));
  });

  it.each<[string, core.PodTemplateSpec]>([
    ["an image", { ...template, spec: { containers: [{ name: "c", image: "i:2" }] } }],
    ["a label", { ...template, metadata: { labels: { app: "web", tier: "x" } } }],
    ["an annotation", { ...template, metadata: { labels: { app: "web" }, annotations: { restarted: "1" } } }],
    ["a pointer to zero", { ...template, spec: { containers: [{ name: "c", image: "i:1" }], priority: 0 } }],
    [
      "an amount",
      {
        ...template,
        spec: { containers: [{ name: "c", image: "i:1", resources: { requests: { cpu: "100m", memory: "1Gi" } } }] },
      },
    ],
  ])("is another after a change of %s", (_, other) => {
    expect(templateHash(other, undefined)).not.toBe(templateHash(template, undefined));
  });

  it("is another after each collision", () => {
    const hashes = [undefined, 0, 1, 2].map((collisions) => templateHash(template, collisions));
    expect(new Set(hashes).size).toBe(4);
  });

  it.skipIf(!existsSync(reference))("is that of a real server (../shared/reference)", () => {
    for (const { spec, metadata } of recorded<apps.ReplicaSet>("replicasets.apps_v1.json")) {
      const { "pod-template-hash": hash, ...labels } = spec?.template?.metadata?.labels ?? {};
      if (hash === undefined || metadata.ownerReferences === undefined) continue;
      const of = { ...spec?.template, metadata: { ...spec?.template?.metadata, labels } };
      expect(templateHash(of, undefined)).toBe(hash);
    }
    const sets = new Map(recorded<apps.DaemonSet>("daemonsets.apps_v1.json").map((set) => [set.metadata.uid, set]));
    const names = recorded<apps.ControllerRevision>("controllerrevisions.apps_v1.json").flatMap(({ metadata }) => {
      const set = sets.get(metadata.ownerReferences?.[0]?.uid);
      return set === undefined
        ? []
        : [[metadata.name, `${set.metadata.name}-${templateHash(set.spec?.template, undefined)}`]];
    });
    expect(names.length).toBeGreaterThan(0);
    for (const [name, made] of names) expect(made).toBe(name);
  });
});
