import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, type OwnerReference } from "#api";
import { type TestControllers, testControllers } from "../testing/index.ts";
import { garbageCollector } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

type Owned = { readonly finalizers?: readonly string[]; readonly owners?: readonly OwnerReference[] };

async function cluster(options: { collect?: boolean } = {}) {
  const running = await testControllers(options.collect === false ? [] : [garbageCollector]);
  open.push(() => running.close());
  const configMaps = running.client.of(kinds.ConfigMap).in("default");
  const create = (name: string, { finalizers, owners }: Owned = {}) =>
    configMaps.create({
      metadata: { name, ...(finalizers && { finalizers }), ...(owners && { ownerReferences: owners }) },
    });
  const names = async () => (await configMaps.list()).items.map(({ metadata }) => metadata.name).join(" ");
  return { ...running, configMaps, create, names };
}

function owner({ metadata }: core.ConfigMap, blockOwnerDeletion = false): OwnerReference {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    blockOwnerDeletion,
  };
}

const GHOST: OwnerReference = {
  apiVersion: "v1",
  kind: "ConfigMap",
  name: "ghost",
  uid: "11111111-1111-1111-1111-111111111111",
};

/** A tree: root → 2 children → 2 grandchildren each. */
async function tree({ create }: { create: (name: string, owned?: Owned) => Promise<core.ConfigMap> }, block = true) {
  const root = await create("root");
  for (const child of ["a", "b"]) {
    const made = await create(child, { owners: [owner(root, block)] });
    for (const leaf of ["1", "2"]) await create(`${child}${leaf}`, { owners: [owner(made, block)] });
  }
  await create("stranger");
}

describe("garbage collection", () => {
  it("in the background: dependents follow their owner", async () => {
    const running = await cluster();
    await tree(running);
    await running.settle();
    expect(await running.names()).toBe("a a1 a2 b b1 b2 root stranger");
    await running.configMaps.delete("root", { propagationPolicy: "Background" });
    await running.settle();
    expect(await running.names()).toBe("stranger");
  });

  it("in the foreground: the owner goes last", async () => {
    const { settle, names, configMaps, create } = await cluster();
    const root = await create("root");
    const child = await create("child", { owners: [owner(root, true)] });
    await create("leaf", { owners: [owner(child, true)], finalizers: ["example.com/hold"] });
    await configMaps.delete("root", { propagationPolicy: "Foreground" });
    await settle();
    expect(await names()).toBe("child leaf root");
    expect((await configMaps.get("leaf")).metadata.deletionTimestamp).toBeDefined();
    await configMaps.patch("leaf", { type: "merge", object: { metadata: { finalizers: null } } });
    await settle();
    expect(await names()).toBe("");
  });

  it("in the foreground, those that do not block are not waited for", async () => {
    const { settle, names, configMaps, create } = await cluster();
    const root = await create("root");
    await create("child", { owners: [owner(root, false)], finalizers: ["example.com/hold"] });
    await configMaps.delete("root", { propagationPolicy: "Foreground" });
    await settle();
    expect(await names()).toBe("child");
    expect((await configMaps.get("child")).metadata.deletionTimestamp).toBeDefined();
  });

  it("orphans: dependents stay and forget their owner", async () => {
    const { settle, names, configMaps, create } = await cluster();
    const root = await create("root");
    const other = await create("other");
    await create("child", { owners: [owner(root), owner(other)] });
    await configMaps.delete("root", { propagationPolicy: "Orphan" });
    await settle();
    expect(await names()).toBe("child other");
    expect((await configMaps.get("child")).metadata.ownerReferences?.map(({ name }) => name)).toEqual(["other"]);
  });

  it("one owner is enough to stay, and the others are forgotten", async () => {
    const { settle, configMaps, create } = await cluster();
    const one = await create("one");
    const two = await create("two");
    await create("child", { owners: [owner(one), owner(two), GHOST] });
    await settle();
    await configMaps.delete("one", { propagationPolicy: "Background" });
    await settle();
    expect((await configMaps.get("child")).metadata.ownerReferences?.map(({ name }) => name)).toEqual(["two"]);
  });

  it.each([
    { name: "an owner that never was", reference: GHOST, stays: false },
    { name: "an owner of the same name but another uid", reference: { ...GHOST, name: "root" }, stays: false },
    {
      name: "a kind that nobody serves",
      reference: { ...GHOST, apiVersion: "example.com/v1", kind: "Widget" },
      stays: true,
    },
  ])("$name", async ({ reference, stays }) => {
    const { settle, clock, names, create } = await cluster();
    await create("root");
    await create("child", { owners: [reference] });
    await settle();
    await clock.advance(60_000);
    expect((await names()).includes("child")).toBe(stays);
  });

  it("an owner in another namespace is none", async () => {
    const { client, settle, names, create } = await cluster();
    const elsewhere = await client
      .of(kinds.ConfigMap)
      .in("elsewhere")
      .create({ metadata: { name: "root" } });
    await create("child", { owners: [owner(elsewhere)] });
    await settle();
    expect(await names()).toBe("");
    expect((await client.of(kinds.ConfigMap).in("elsewhere").list()).items).toHaveLength(1);
  });

  it("owners without a namespace have dependents in any", async () => {
    const { client, settle, names, create } = await cluster();
    const { metadata } = await client.of(kinds.Namespace).create({ metadata: { name: "owner" } });
    await create("child", {
      owners: [{ apiVersion: "v1", kind: "Namespace", name: "owner", uid: metadata.uid ?? "" }],
    });
    await settle();
    expect(await names()).toBe("child");
  });

  it("ends a circle of owners that all wait", async () => {
    const { settle, clock, names, configMaps, create } = await cluster();
    const a = await create("a");
    const b = await create("b", { owners: [owner(a, true)] });
    await configMaps.patch("a", { type: "merge", object: { metadata: { ownerReferences: [{ ...owner(b, true) }] } } });
    await settle();
    await configMaps.delete("a", { propagationPolicy: "Foreground" });
    await settle();
    await clock.advance(60_000);
    expect(await names()).toBe("");
  });

  it("finds after a restart what was left over", async () => {
    const before = await cluster({ collect: false });
    await tree(before);
    await before.create("child", { owners: [GHOST] });
    await before.configMaps.delete("root", { propagationPolicy: "Background" });
    const after = await testControllers([garbageCollector], { server: before.server });
    open.push(() => after.close());
    await after.settle();
    expect(await before.names()).toBe("stranger");
  });

  it("goes across kinds", async () => {
    const { client, settle, create, configMaps } = await cluster();
    const root = await create("root");
    await client
      .of(kinds.Secret)
      .create({ metadata: { name: "s", namespace: "default", ownerReferences: [owner(root)] } });
    await configMaps.delete("root", { propagationPolicy: "Background" });
    await settle();
    expect((await client.of(kinds.Secret).list()).items).toEqual([]);
  });

  it("is stopped after every single write and still finishes, deleting nothing that has an owner", async () => {
    const left: string[] = [];
    for (let limit = 1; limit <= 10; limit++) {
      const cut = await cluster({ collect: false });
      await tree(cut);
      await cut.configMaps.delete("root", { propagationPolicy: "Foreground" });
      const first: TestControllers = await testControllers([garbageCollector], { server: cut.server });
      let writes = 0;
      first.refuse(({ method }) => {
        if (method !== "GET" && ++writes === limit) void first.stop();
        return undefined;
      });
      await cut.settle();
      await first.stop();
      const second = await testControllers([garbageCollector], { server: cut.server });
      open.push(() => second.close());
      await second.settle();
      await second.clock.advance(60_000);
      left.push(await cut.names());
    }
    expect(new Set(left)).toEqual(new Set(["stranger"]));
  });

  it("collects a tree of 2,000 and nothing else", async () => {
    const running = await cluster();
    const root = await running.create("root");
    for (let i = 0; i < 20; i++) {
      const child = await running.create(`c${i}`, { owners: [owner(root)] });
      for (let j = 0; j < 99; j++) await running.create(`c${i}-${j}`, { owners: [owner(child)] });
    }
    await running.create("stranger");
    await running.configMaps.delete("root", { propagationPolicy: "Background" });
    await expect.poll(() => running.settle().then(running.names)).toBe("stranger");
  });
});
