import { describe, expect, it } from "vitest";
import type { KubeObject } from "#api";
import type { Change, Entry } from "#store";
import { ResourceCache } from "./resource-cache.ts";
import type { Selection } from "./selection.ts";
import { encodeForStore, StoredObject } from "./stored-object.ts";
import { CacheEvent } from "./watch-event.ts";

const PREFIX = "/registry/core/configmaps/";

function entry(suffix: string, revision: number, labels: Record<string, string> = {}): Entry {
  const [namespace = "", name = ""] = suffix.split("/");
  const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name, namespace, labels } } as KubeObject;
  return { key: PREFIX + suffix, value: encodeForStore(object), revision, createRevision: revision };
}

function put(suffix: string, revision: number, labels?: Record<string, string>): Change {
  return { key: PREFIX + suffix, revision, entry: entry(suffix, revision, labels), previous: undefined };
}

function del(suffix: string, revision: number): Change {
  return { key: PREFIX + suffix, revision, entry: undefined, previous: undefined };
}

/** A watcher that writes down what it is told. */
function watcher(cache: ResourceCache, selection: Selection, after: number) {
  const told: string[] = [];
  const stop = cache.watch(selection, after, {
    event: ({ type, stored }) =>
      told.push(`${type} ${stored.object.metadata.name}@${stored.object.metadata.resourceVersion}`),
    expired: () => told.push("expired"),
  });
  return { told, stop };
}

const labelled: Selection = { matches: ({ metadata }) => metadata.labels?.on === "1" };

describe("the cache of a resource", () => {
  it("shows the current objects in the order of namespace and name", () => {
    const cache = new ResourceCache(PREFIX);
    cache.replace([entry("b/z", 3), entry("a/y", 2)], 3);
    cache.change(put("a/x", 4));
    cache.change(put("a-b/x", 5));
    cache.change(del("b/z", 6));
    expect([...cache.snapshot().keys()]).toEqual(["a-b/x", "a/x", "a/y"]);
    expect([cache.size, cache.get("a/x")?.revision, cache.get("b/z")]).toEqual([3, 4, undefined]);
  });

  it("has snapshots that later writes do not change", () => {
    const cache = new ResourceCache(PREFIX);
    cache.replace([entry("a/x", 1)], 1);
    const before = cache.snapshot();
    cache.change(put("a/y", 2));
    cache.change(del("a/x", 3));
    expect([...before.keys()]).toEqual(["a/x"]);
  });

  it("has the values of the last writes at hand, and lets go of older ones", () => {
    const cache = new ResourceCache(PREFIX);
    const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "x", labels: {} } } as KubeObject;
    const large = { large: "x".repeat(100_000) };
    const writes = Array.from({ length: 100 }, (_, i) => StoredObject.written(entry(`a/x${i}`, i + 1, large), object));
    for (const stored of writes) cache.wrote(stored);
    const atHand = writes.map((stored) => stored.object.metadata.labels === object.metadata.labels);
    expect([atHand[0], atHand.at(-1)]).toEqual([false, true]);
    expect(atHand.lastIndexOf(false)).toBeLessThan(atHand.indexOf(true));
  });

  it("keeps the states of lists under way, and only some of them", () => {
    const cache = new ResourceCache(PREFIX);
    for (let revision = 1; revision <= 100; revision++) cache.keep(revision, cache.snapshot());
    expect([cache.kept(1) === undefined, cache.kept(100) === undefined]).toEqual([true, false]);
  });

  it("takes the value of its own process's writes without parsing", () => {
    const cache = new ResourceCache(PREFIX);
    const mine = new StoredObject(entry("a/x", 5));
    cache.wrote(mine);
    cache.change(put("a/x", 5));
    expect(cache.get("a/x")).toBe(mine);
  });
});

describe("watchers", () => {
  const changes = [
    put("a/x", 11, { on: "1" }),
    put("a/x", 12, { on: "1" }),
    put("a/x", 13),
    put("b/x", 14, { on: "1" }),
    put("a/x", 15, { on: "1" }),
    del("a/x", 16),
    put("a/y", 17),
    del("a/y", 18),
  ];
  const cases: { name: string; selection: Selection; after: number; want: string[] }[] = [
    {
      name: "everything",
      selection: {},
      after: 10,
      want: [
        "ADDED x@11",
        "MODIFIED x@12",
        "MODIFIED x@13",
        "ADDED x@14",
        "MODIFIED x@15",
        "DELETED x@16",
        "ADDED y@17",
        "DELETED y@18",
      ],
    },
    { name: "from a revision", selection: {}, after: 15, want: ["DELETED x@16", "ADDED y@17", "DELETED y@18"] },
    { name: "a namespace", selection: { namespace: "b" }, after: 10, want: ["ADDED x@14"] },
    { name: "an object", selection: { namespace: "a", name: "y" }, after: 10, want: ["ADDED y@17", "DELETED y@18"] },
    {
      name: "what a selector lets in and out",
      selection: labelled,
      after: 10,
      want: ["ADDED x@11", "MODIFIED x@12", "DELETED x@13", "ADDED x@14", "ADDED x@15", "DELETED x@16"],
    },
    {
      name: "a selector in a namespace",
      selection: { ...labelled, namespace: "a" },
      after: 12,
      want: ["DELETED x@13", "ADDED x@15", "DELETED x@16"],
    },
    { name: "a revision that is still to come", selection: {}, after: 17, want: ["DELETED y@18"] },
  ];

  it.each(cases)("get the same live: $name", ({ selection, after, want }) => {
    const cache = new ResourceCache(PREFIX);
    cache.replace([], 10);
    const { told } = watcher(cache, selection, after);
    for (const change of changes) cache.change(change);
    expect(told).toEqual(want);
  });

  it.each(cases)("and out of the window: $name", ({ selection, after, want }) => {
    const cache = new ResourceCache(PREFIX);
    cache.replace([], 10);
    for (const change of changes) cache.change(change);
    expect(watcher(cache, selection, after).told).toEqual(want);
  });

  it.each(cases)("and partly so: $name", ({ selection, after, want }) => {
    const cache = new ResourceCache(PREFIX);
    cache.replace([], 10);
    for (const change of changes.slice(0, 3)) cache.change(change);
    const { told } = watcher(cache, selection, after);
    for (const change of changes.slice(3)) cache.change(change);
    expect(told).toEqual(want);
  });

  it("share one event", () => {
    const cache = new ResourceCache(PREFIX);
    const frames: Buffer[] = [];
    for (const selection of [{}, { namespace: "a" }, labelled]) {
      cache.watch(selection, 0, { event: ({ frame }) => frames.push(frame), expired: () => {} });
    }
    cache.change(put("a/x", 1, { on: "1" }));
    expect(frames).toHaveLength(3);
    expect(new Set(frames).size).toBe(1);
    expect(frames[0]?.toString()).toBe(`${JSON.stringify({ type: "ADDED", object: cache.get("a/x")?.object })}\n`);
  });

  it("hear nothing after their end", () => {
    const cache = new ResourceCache(PREFIX);
    const first = watcher(cache, {}, 0);
    const second = watcher(cache, {}, 0);
    cache.change(put("a/x", 1));
    first.stop?.();
    first.stop?.();
    cache.change(put("a/y", 2));
    expect([first.told, second.told]).toEqual([["ADDED x@1"], ["ADDED x@1", "ADDED y@2"]]);
  });

  it("are refused if what they missed is gone", () => {
    const cache = new ResourceCache(PREFIX);
    cache.replace([], 10);
    expect([watcher(cache, {}, 9).stop === undefined, watcher(cache, {}, 10).stop === undefined, cache.oldest]).toEqual(
      [true, false, 10],
    );
  });

  it("are refused once the window has moved on, and never miss one before", () => {
    const cache = new ResourceCache(PREFIX);
    cache.replace([], 1);
    const last = 25_000;
    for (let revision = 2; revision <= last; revision++) cache.change(put("a/x", revision));
    expect(cache.oldest).toBeGreaterThan(1);
    expect(watcher(cache, {}, cache.oldest - 1).stop).toBeUndefined();
    expect(watcher(cache, {}, cache.oldest).told).toHaveLength(last - cache.oldest);
  });

  it("are told when the cache was filled anew, and can start again from there", () => {
    const cache = new ResourceCache(PREFIX);
    cache.replace([entry("a/x", 1)], 1);
    const everything = watcher(cache, {}, 1);
    const one = watcher(cache, { namespace: "a", name: "x" }, 1);
    cache.replace([entry("a/y", 5)], 6);
    expect([everything.told, one.told]).toEqual([["expired"], ["expired"]]);
    expect([...cache.snapshot().keys()]).toEqual(["a/y"]);
    expect(watcher(cache, {}, 5).stop).toBeUndefined();
    const again = watcher(cache, {}, 6);
    cache.change(del("a/y", 7));
    expect(again.told).toEqual(["DELETED y@7"]);
  });
});

describe("watches of changes", () => {
  it("see both states, whatever selectors say, where they look", () => {
    const cache = new ResourceCache(PREFIX);
    cache.replace([entry("a/x", 1)], 1);
    const told: string[] = [];
    const names = (objects: readonly StoredObject[]) =>
      objects.map(({ key, revision }) => `${key.slice(-1)}@${revision}`);
    const sink = { change: ({ objects }: CacheEvent) => told.push(names(objects).join()), expired: () => {} };
    cache.watchChanges({ namespace: "a" }, 1, sink);
    cache.change(put("a/x", 2));
    cache.change(put("b/y", 3));
    cache.change(del("a/x", 4));
    expect(told).toEqual(["x@2,x@1", "x@2"]);
  });

  it("are ended together", () => {
    const cache = new ResourceCache(PREFIX);
    const told: string[] = [];
    const stop = cache.watch({}, 0, { event: () => {}, expired: () => {}, ended: () => told.push("ended") });
    cache.watch({ namespace: "a" }, 0, { event: () => {}, expired: () => {} });
    cache.endWatches();
    stop?.();
    cache.endWatches();
    expect(told).toEqual(["ended"]);
  });

  it("share what a change is in another form", () => {
    const form = {};
    const [current, previous] = [new StoredObject(entry("a/x", 2)), new StoredObject(entry("a/x", 1))];
    const event = new CacheEvent(2, current, previous);
    const own = (stored: StoredObject) => stored.inForm({ ...stored.object, apiVersion: "v2" });
    const other = event.inForm(form, own);
    expect([event.inForm(form, own), event.inForm({}, (stored) => stored)]).toEqual([other, event]);
    expect(JSON.parse(other.current?.line.toString() ?? "")).toMatchObject({
      apiVersion: "v2",
      metadata: { name: "x", resourceVersion: "2" },
    });
  });
});
