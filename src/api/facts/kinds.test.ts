import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { recordings } from "../testing/recordings.ts";
import { type KindFacts, kinds, storageVersionHash, typeSchema } from "./index.ts";

const reference = fileURLToPath(recordings("reference/"));
const sha256 = (text: string) => createHash("sha256").update(text).digest();
const apiVersion = (it: { group: string; version: string }) =>
  it.group === "" ? it.version : `${it.group}/${it.version}`;
const all = kinds();

function find(name: string): KindFacts {
  const found = all.find((it) => `${apiVersion(it)}/${it.kind}` === name);
  if (found === undefined) throw new Error(`${name} is not there`);
  return found;
}

describe("the kinds", () => {
  it("say what is known of ReplicaSet", () => {
    expect(find("apps/v1/ReplicaSet")).toEqual({
      group: "apps",
      version: "v1",
      kind: "ReplicaSet",
      plural: "replicasets",
      singular: "replicaset",
      shortNames: ["rs"],
      categories: ["all"],
      scope: "Namespaced",
      verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
      subresources: [
        {
          name: "scale",
          group: "autoscaling",
          version: "v1",
          kind: "Scale",
          verbs: ["get", "patch", "update"],
          typeName: "io.k8s.api.autoscaling.v1.Scale",
        },
        {
          name: "status",
          group: "apps",
          version: "v1",
          kind: "ReplicaSet",
          verbs: ["get", "patch", "update"],
          typeName: "io.k8s.api.apps.v1.ReplicaSet",
        },
      ],
      typeName: "io.k8s.api.apps.v1.ReplicaSet",
      storage: { group: "apps", version: "v1" },
    });
  });

  it("name a subresource's kind in the group of its owner unless said otherwise", () => {
    const { subresources } = find("v1/Pod");
    expect(subresources.map((it) => [it.name, it.typeName])).toEqual([
      ["attach", "io.k8s.api.core.v1.PodAttachOptions"],
      ["binding", "io.k8s.api.core.v1.Binding"],
      ["ephemeralcontainers", "io.k8s.api.core.v1.Pod"],
      ["eviction", "io.k8s.api.policy.v1.Eviction"],
      ["exec", "io.k8s.api.core.v1.PodExecOptions"],
      ["log", "io.k8s.api.core.v1.Pod"],
      ["portforward", "io.k8s.api.core.v1.PodPortForwardOptions"],
      ["proxy", "io.k8s.api.core.v1.PodProxyOptions"],
      ["resize", "io.k8s.api.core.v1.Pod"],
      ["status", "io.k8s.api.core.v1.Pod"],
    ]);
  });

  it.each(all.map((it) => [`${apiVersion(it)} ${it.kind}`, it] as const))(
    "%s has types that the tables know",
    (_, it) => {
      const fields = typeSchema(it.typeName).fields;
      expect([...fields.keys()].slice(0, 2)).toEqual(["kind", "apiVersion"]);
      if (it.verbs.includes("list")) expect(typeSchema(`${it.typeName}List`).fields.get("items")?.required).toBe(true);
      for (const sub of it.subresources) expect(typeSchema(sub.typeName).fields.size).toBeGreaterThan(0);
    },
  );

  it("give the hash that discovery shows: eight bytes of SHA-256", () => {
    expect(storageVersionHash({ group: "apps", version: "v1" }, "Deployment", sha256)).toBe("8aSe+NMegvE=");
  });
});

interface Resource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

/** What legacy discovery says of a kind, from the facts. */
function resources(it: KindFacts): Resource[] {
  const namespaced = it.scope === "Namespaced";
  const own: Resource = {
    name: it.plural,
    singularName: it.singular,
    namespaced,
    kind: it.kind,
    verbs: it.verbs,
    ...(it.shortNames.length > 0 ? { shortNames: it.shortNames } : {}),
    ...(it.categories.length > 0 ? { categories: it.categories } : {}),
    ...(it.storage ? { storageVersionHash: storageVersionHash(it.storage, it.kind, sha256) } : {}),
  };
  const subresources = it.subresources.map((sub) => ({
    name: `${it.plural}/${sub.name}`,
    singularName: "",
    namespaced,
    ...(apiVersion(sub) === apiVersion(it) ? {} : { group: sub.group, version: sub.version }),
    kind: sub.kind,
    verbs: sub.verbs,
  }));
  return [own, ...subresources];
}

describe.skipIf(!existsSync(reference))("the kinds, compared with a real server", () => {
  const read = (file: string) => JSON.parse(readFileSync(reference + file, "utf8"));

  it.each([...new Set(all.map(apiVersion))])("%s", (gv) => {
    const file = gv === "v1" ? "core_v1" : gv.replace("/", "_");
    const want: readonly Resource[] = read(`discovery/legacy/${file}.json`).resources;
    expect(all.filter((it) => apiVersion(it) === gv).flatMap(resources)).toEqual(want);
  });

  it("come in the order of discovery, with none missing", () => {
    const builtIn = Object.keys(read("facts/kinds.json")).filter((name) => !name.startsWith("example.com/"));
    expect(all.map((it) => `${apiVersion(it)}/${it.kind}`)).toEqual(builtIn);
  });

  it("are stored in the version that a real server keeps", () => {
    const want: Record<string, { storage?: { storedApiVersion: string } }> = read("facts/kinds.json");
    for (const it of all) {
      const name = `${apiVersion(it)}/${it.kind}`;
      expect([name, it.storage && apiVersion(it.storage)]).toEqual([name, want[name]?.storage?.storedApiVersion]);
    }
  });
});
