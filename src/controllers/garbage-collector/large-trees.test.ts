/**
 * Ten thousand objects in trees of owners, which go in every way there is, with a circle and owners of a custom kind
 * among them: nothing is left over, and nothing goes that should stay.
 */
import { afterEach, describe, expect, it } from "vitest";
import { type apiextensions, type KubeObject, kinds, type OwnerReference } from "#api";
import type { ResourceClient, ResourceName } from "#client";
import { type TestControllers, testControllers } from "../testing/index.ts";
import { garbageCollector } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const WIDGETS: ResourceName = { apiVersion: "example.com/v1", kind: "Widget", plural: "widgets", namespaced: true };

const definition: apiextensions.CustomResourceDefinition = {
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

interface Made {
  readonly metadata: { readonly name?: string; readonly uid?: string };
}

const ownedBy = ({ apiVersion, kind }: Pick<OwnerReference, "apiVersion" | "kind">, { metadata }: Made) => ({
  apiVersion,
  kind,
  name: metadata.name ?? "",
  uid: metadata.uid ?? "",
  blockOwnerDeletion: true,
});
const byConfigMap = (made: Made) => ownedBy({ apiVersion: "v1", kind: "ConfigMap" }, made);
const byWidget = (made: Made) => ownedBy(WIDGETS, made);

class Forest {
  readonly configMaps: ResourceClient<KubeObject>;
  readonly widgets: ResourceClient<KubeObject>;
  made = 0;

  constructor({ client }: TestControllers) {
    this.configMaps = client.of<KubeObject>(kinds.ConfigMap as unknown as ResourceName).in("default");
    this.widgets = client.of<KubeObject>(WIDGETS).in("default");
  }

  async grow(name: string, owners: readonly OwnerReference[] = [], place = this.configMaps): Promise<KubeObject> {
    this.made += 1;
    const { apiVersion, kind } = place.resource;
    return place.create({
      apiVersion,
      kind,
      metadata: { name, ...(owners.length > 0 && { ownerReferences: owners }) },
    });
  }

  async many(names: readonly string[], owners: readonly OwnerReference[]): Promise<readonly KubeObject[]> {
    const made: KubeObject[] = [];
    for (let at = 0; at < names.length; at += 100)
      made.push(...(await Promise.all(names.slice(at, at + 100).map((name) => this.grow(name, owners)))));
    return made;
  }

  /** A root, `width` below it, and as many below each of these. */
  async tree(name: string, width: number): Promise<void> {
    const root = await this.grow(name);
    for (const branch of await this.many(series(`${name}-`, width), [byConfigMap(root)]))
      await this.many(series(`${branch.metadata.name}-`, width), [byConfigMap(branch)]);
  }

  async names(place = this.configMaps): Promise<readonly string[]> {
    const names: string[] = [];
    for await (const { metadata } of place.each()) names.push(metadata.name ?? "");
    return names;
  }
}

const series = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

describe("garbage collection of ten thousand objects", () => {
  it("takes what has lost its owners, and nothing else", async () => {
    const cluster = await testControllers([garbageCollector], { rights: "everything" });
    open.push(() => cluster.close());
    const { client, clock } = cluster;
    await client.of(kinds.CustomResourceDefinition).create(definition);
    await clock.advance(35_000);
    const forest = new Forest(cluster);
    const { configMaps, widgets } = forest;

    await forest.tree("background", 56);
    await forest.tree("foreground", 56);
    await forest.many(series("freed-", 3_000), [byConfigMap(await forest.grow("orphaning"))]);
    const survivor = await forest.grow("survivor");
    // Each of a circle owns the next; one of them is deleted.
    const circle = await forest.many(series("circle-", 50), []);
    for (const [i, each] of circle.entries()) {
      const owner = circle[(i + 49) % 50] as KubeObject;
      await configMaps.update({ ...each, metadata: { ...each.metadata, ownerReferences: [byConfigMap(owner)] } });
    }
    // One that waits for its dependents, of which one waits for it.
    const knot = await forest.grow("knot-a");
    const tied = await forest.grow("knot-b", [byConfigMap(knot)]);
    await configMaps.update({ ...knot, metadata: { ...knot.metadata, ownerReferences: [byConfigMap(tied)] } });
    const widget = await forest.grow("machine", [], widgets);
    await forest.many(series("part-", 300), [byWidget(widget)]);
    await forest.grow("small-machine", [byWidget(widget)], widgets);
    const lasting = await forest.grow("lasting", [], widgets);
    // Two owners, of which one stays; owners that stay; none at all.
    await forest.many(series("shared-", 100), [byWidget(widget), byConfigMap(survivor)]);
    await forest.many(series("kept-", 100), [byWidget(lasting)]);
    await client
      .of(kinds.Secret)
      .in("default")
      .create({ metadata: { name: "stranger" } });
    expect(forest.made).toBeGreaterThan(9_900);
    await cluster.settle();
    expect((await forest.names()).length + (await forest.names(widgets)).length).toBe(forest.made);

    await configMaps.delete("background", { propagationPolicy: "Background" });
    await configMaps.delete("foreground", { propagationPolicy: "Foreground" });
    await configMaps.delete("orphaning", { propagationPolicy: "Orphan" });
    await configMaps.delete("circle-7", { propagationPolicy: "Background" });
    await configMaps.delete("knot-a", { propagationPolicy: "Foreground" });
    await widgets.delete("machine", { propagationPolicy: "Foreground" });
    for (let minute = 0; minute < 10; minute++) await clock.advance(60_000);

    const left = new Map<string, number>();
    for (const name of await forest.names()) {
      const kind = name.split("-", 1)[0] ?? "";
      left.set(kind, (left.get(kind) ?? 0) + 1);
    }
    expect(Object.fromEntries(left)).toEqual({ freed: 3_000, survivor: 1, shared: 100, kept: 100 });
    expect(await forest.names(widgets)).toEqual(["lasting"]);
    expect((await client.of(kinds.Secret).list()).items).toHaveLength(1);
    for await (const { metadata } of configMaps.each()) {
      const owners = (metadata.ownerReferences ?? []).map(({ name }) => name);
      const want = { freed: [], survivor: [], shared: ["survivor"], kept: ["lasting"] };
      expect([metadata.name, owners]).toEqual([metadata.name, want[metadata.name?.split("-", 1)[0] as "kept"]]);
      expect(metadata.finalizers).toBeUndefined();
    }
    const before = cluster.writes();
    await clock.advance(3_600_000);
    expect(cluster.writes()).toBe(before);
  });
});
