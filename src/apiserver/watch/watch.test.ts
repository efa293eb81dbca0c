import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decodeEnvelope, decodeWatchFrame } from "#api";
import { configMap, namespace, type TestServer, testServer } from "../testing/index.ts";

const IN_A = "/api/v1/namespaces/a/configmaps";
const IN_B = "/api/v1/namespaces/b/configmaps";
const ALL = "/api/v1/configmaps";

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
});
afterEach(() => server.close());

const put = async (path: string, name: string, labels: Record<string, string> = {}) => {
  const body = configMap(name, {}, { labels });
  const found = await server.request("PUT", `${path}/${name}`, { body });
  return found.status === 404 ? server.request("POST", path, { body }) : found;
};
const remove = (path: string, name: string) => server.request("DELETE", `${path}/${name}`);

/** Revisions 1 to 7. */
async function history() {
  await put(IN_A, "x", { on: "1" });
  await put(IN_A, "x", { on: "2" });
  await put(IN_A, "y", { on: "1" });
  await put(IN_B, "x", { on: "1" });
  await put(IN_A, "x", { on: "1", more: "1" });
  await put(IN_A, "x");
  await remove(IN_A, "y");
}

const initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

describe("a watch whose caller is in no hurry", () => {
  it("begins at once, and then tells together what came within the time", async () => {
    await put(IN_A, "x");
    const stream = await server.watch(`${IN_A}?watch=1&k8ts-gather=500`);
    await server.settle();
    const told = () => stream.events.map(({ type, object }) => `${type} ${object.metadata.name}`);
    expect(told()).toEqual(["ADDED x"]);
    await put(IN_A, "y");
    await server.clock.advance(300);
    await put(IN_A, "z");
    await server.settle();
    expect(told()).toEqual(["ADDED x"]);
    await server.clock.advance(200);
    expect(told()).toEqual(["ADDED x", "ADDED y", "ADDED z"]);
    await put(IN_A, "late");
    await server.clock.advance(499);
    expect(told()).toHaveLength(3);
    await stream.close();
  });
});

describe("where a watch begins", () => {
  const cases: { name: string; path: string; want: string[] }[] = [
    { name: "without a revision: the state, then what comes", path: `${IN_A}?watch=1`, want: ["ADDED x", "ADDED z"] },
    { name: "any revision: the same", path: `${IN_A}?watch=1&resourceVersion=0`, want: ["ADDED x", "ADDED z"] },
    { name: "the old path", path: "/api/v1/watch/namespaces/a/configmaps", want: ["ADDED x", "ADDED z"] },
    {
      name: "a revision: what came after it",
      path: `${IN_A}?watch=1&resourceVersion=2`,
      want: ["ADDED y", "MODIFIED x", "MODIFIED x", "DELETED y", "ADDED z"],
    },
    {
      name: "everywhere",
      path: `${ALL}?watch=1&resourceVersion=3`,
      want: ["ADDED x", "MODIFIED x", "MODIFIED x", "DELETED y", "ADDED z"],
    },
    { name: "the newest revision", path: `${IN_A}?watch=1&resourceVersion=7`, want: ["ADDED z"] },
    { name: "a revision that is still to come", path: `${IN_A}?watch=1&resourceVersion=8`, want: [] },
    { name: "initial events", path: `${IN_A}?watch=1&${initial}`, want: ["ADDED x", "ADDED z"] },
    {
      name: "initial events with a bookmark behind them",
      path: `${IN_A}?watch=1&${initial}&allowWatchBookmarks=1`,
      want: ["ADDED x", "BOOKMARK 7", "ADDED z"],
    },
    {
      name: "initial events not older than",
      path: `${IN_A}?watch=1&${initial}&allowWatchBookmarks=1&resourceVersion=2`,
      want: ["ADDED x", "BOOKMARK 7", "ADDED z"],
    },
    {
      name: "initial events of nothing",
      path: `${ALL}?watch=1&${initial}&allowWatchBookmarks=1&labelSelector=none`,
      want: ["BOOKMARK 7"],
    },
    {
      name: "no initial events",
      path: `${IN_A}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`,
      want: ["ADDED z"],
    },
    {
      name: "no initial events from any state",
      path: `${IN_A}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0`,
      want: ["ADDED z"],
    },
    {
      name: "no initial events, but a revision",
      path: `${IN_A}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=6`,
      want: ["DELETED y", "ADDED z"],
    },
    {
      name: "one name, by selector",
      path: `${IN_A}?watch=1&resourceVersion=1&fieldSelector=metadata.name%3Dy`,
      want: ["ADDED y", "DELETED y"],
    },
    {
      name: "one name, by the old path",
      path: "/api/v1/watch/namespaces/a/configmaps/y?resourceVersion=1",
      want: ["ADDED y", "DELETED y"],
    },
    {
      name: "one name in all namespaces",
      path: `${ALL}?watch=1&resourceVersion=3&fieldSelector=metadata.name%3Dx`,
      want: ["ADDED x", "MODIFIED x", "MODIFIED x"],
    },
    {
      name: "what a selector lets in and out",
      path: `${IN_A}?watch=1&resourceVersion=1&labelSelector=on%3D1`,
      want: ["DELETED x", "ADDED y", "ADDED x", "DELETED x", "DELETED y"],
    },
    { name: "the state that a selector shows", path: `${IN_A}?watch=1&labelSelector=on`, want: [] },
  ];
  it.each(cases)("$name", async ({ path, want }) => {
    await history();
    const watch = await server.watch(path);
    await put(IN_A, "z");
    expect(await watch.seen()).toEqual(want);
    expect(watch.ended).toBe(false);
  });

  it("also for what has no namespace", async () => {
    await server.request("POST", "/api/v1/namespaces", { body: namespace("a") });
    const all = await server.watch("/api/v1/namespaces?watch=1&resourceVersion=0");
    const one = await server.watch("/api/v1/watch/namespaces/b");
    await server.request("POST", "/api/v1/namespaces", { body: namespace("b") });
    await server.request("POST", "/api/v1/namespaces", { body: namespace("c") });
    expect([await all.seen(), await one.seen()]).toEqual([["ADDED a", "ADDED b", "ADDED c"], ["ADDED b"]]);
  });
});

describe("events", () => {
  it("show an object as a read at that revision did", async () => {
    const watch = await server.watch(`${IN_A}?watch=1`);
    const created = await put(IN_A, "x", { on: "1" });
    const changed = await put(IN_A, "x", { on: "2" });
    await remove(IN_A, "x");
    await watch.seen();
    const [added, modified, deleted] = watch.events;
    expect([added?.object, modified?.object]).toEqual([created.json, changed.json]);
    // The last state, as of the revision of the deletion.
    expect(deleted?.object).toEqual({ ...changed.json, metadata: { ...changed.metadata, resourceVersion: "3" } });
  });

  it("of an object that leaves a selection show its last state inside, as of the revision it left", async () => {
    await put(IN_A, "x", { on: "1" });
    const watch = await server.watch(`${IN_A}?watch=1&resourceVersion=1&labelSelector=on%3D1`);
    const left = await put(IN_A, "x", { on: "2" });
    await watch.seen();
    expect(watch.events[0]).toMatchObject({
      type: "DELETED",
      object: { metadata: { name: "x", labels: { on: "1" }, resourceVersion: left.metadata.resourceVersion } },
    });
  });

  it("come to everybody in the same order", async () => {
    const watches = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        server.watch(i % 2 === 0 ? `${IN_A}?watch=1` : `${ALL}?watch=1&resourceVersion=0`),
      ),
    );
    for (let i = 0; i < 7; i++) await put(IN_A, `x${i}`);
    await Promise.all(Array.from({ length: 40 }, (_, i) => put(IN_A, `x${i % 7}`, { i: String(i) })));
    const [first, ...others] = await Promise.all(watches.map((watch) => watch.seen()));
    expect(first?.length).toBe(47);
    for (const other of others) expect(other).toEqual(first);
    const revisions = watches[0]?.events.map(({ object }) => Number(object.metadata.resourceVersion)) ?? [];
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
  });

  it("of one turn go out together", async () => {
    await history();
    const watch = await server.watch(`${IN_A}?watch=1&resourceVersion=1`);
    expect([watch.events.length, watch.writes]).toEqual([5, 1]);
  });

  it("are also told to those who asked for a table, with ages as of each", async () => {
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const watch = await server.watch(`${IN_A}?watch=1`, { headers });
    await server.clock.advance(600_000);
    await put(IN_A, "x");
    await server.clock.advance(60_000);
    await put(IN_A, "x", { on: "1" });
    await server.settle();
    const tables = watch.events.map(
      ({ object }) =>
        object as unknown as {
          kind: string;
          columnDefinitions: { name: string }[] | null;
          rows: { cells: unknown[] }[];
        },
    );
    expect(tables.map(({ kind, rows }) => [kind, rows[0]?.cells])).toEqual([
      ["Table", ["x", 0, "0s"]],
      ["Table", ["x", 0, "60s"]],
    ]);
    expect(tables[0]?.columnDefinitions?.map(({ name }) => name)).toEqual(["Name", "Data", "Age"]);
    expect(tables[1]?.columnDefinitions).toBeNull();
  });

  it("are told as metadata alone", async () => {
    const headers = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" };
    const watch = await server.watch(`${IN_A}?watch=1`, { headers });
    await put(IN_A, "x");
    await watch.seen();
    expect(watch.events[0]?.object).toMatchObject({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: { name: "x" },
    });
    expect(watch.events[0]?.object).not.toHaveProperty("data");
  });

  it("are told in protobuf", async () => {
    const watch = await server.watch(`${IN_A}?watch=1&${initial}&allowWatchBookmarks=1`, {
      headers: { accept: "application/vnd.kubernetes.protobuf;stream=watch" },
    });
    await put(IN_A, "x");
    await server.settle();
    const types: string[] = [];
    let rest: Uint8Array = watch.bytes;
    for (let read = decodeWatchFrame(rest); read !== undefined; read = decodeWatchFrame(rest)) {
      types.push(`${read.frame.type} ${decodeEnvelope(read.frame.object).kind}`);
      rest = read.rest;
    }
    expect(watch.headers["content-type"]).toBe("application/vnd.kubernetes.protobuf;stream=watch");
    expect([types, rest.length]).toEqual([["BOOKMARK ConfigMap", "ADDED ConfigMap"], 0]);
  });

  it("cannot be had in YAML", async () => {
    expect((await server.request("GET", `${IN_A}?watch=1`, { headers: { accept: "application/yaml" } })).status).toBe(
      406,
    );
  });
});

describe("bookmarks", () => {
  it("come every minute with the newest revision, if they are wanted", async () => {
    await history();
    const wanted = await server.watch(`${IN_A}?watch=1&resourceVersion=7&allowWatchBookmarks=true`);
    const unwanted = await server.watch(`${IN_A}?watch=1&resourceVersion=7`);
    await put(IN_B, "z");
    await server.clock.advance(60_000);
    await put(IN_B, "z2");
    await server.clock.advance(60_000);
    expect([await wanted.seen(), await unwanted.seen()]).toEqual([["BOOKMARK 8", "BOOKMARK 9"], []]);
  });

  it("never send back who starts from a revision that is still to come", async () => {
    await history();
    const watch = await server.watch(`${IN_A}?watch=1&resourceVersion=8&allowWatchBookmarks=true`);
    await server.clock.advance(60_000);
    expect(await watch.seen()).toEqual([]);
    await put(IN_A, "z");
    await server.clock.advance(60_000);
    expect(await watch.seen()).toEqual(["BOOKMARK 8"]);
  });

  it("have the type and a revision, and say where the initial events end", async () => {
    await put(IN_A, "x");
    const watch = await server.watch(`${IN_A}?watch=1&${initial}&allowWatchBookmarks=true`);
    await server.clock.advance(60_000);
    await watch.seen();
    expect(watch.events.slice(1).map(({ object }) => object)).toEqual([
      {
        kind: "ConfigMap",
        apiVersion: "v1",
        metadata: { resourceVersion: "1", annotations: { "k8s.io/initial-events-end": "true" } },
      },
      { kind: "ConfigMap", apiVersion: "v1", metadata: { resourceVersion: "1" } },
    ]);
  });

  it("are a place to go on from", async () => {
    await history();
    const first = await server.watch(`${IN_A}?watch=1&resourceVersion=7&allowWatchBookmarks=true`);
    await server.clock.advance(60_000);
    const [bookmark] = await first.seen();
    await first.close();
    await put(IN_A, "z");
    const next = await server.watch(`${IN_A}?watch=1&resourceVersion=${bookmark?.split(" ")[1]}`);
    expect(await next.seen()).toEqual(["ADDED z"]);
  });
});

describe("how a watch ends", () => {
  it.each([
    { query: "timeoutSeconds=5", before: 4_999, after: 1 },
    { query: "", before: 1_799_999, after: 1_800_001 },
    { query: "timeoutSeconds=0", before: 1_799_999, after: 1_800_001 },
  ])("after its time: $query", async ({ query, before, after }) => {
    const watch = await server.watch(`${IN_A}?watch=1&${query}`);
    await server.clock.advance(before);
    expect(watch.ended).toBe(false);
    await server.clock.advance(after);
    expect([watch.ended, watch.events]).toEqual([true, []]);
  });

  it("at once, if its time is negative", async () => {
    const watch = await server.watch(`${IN_A}?watch=1&timeoutSeconds=-1`);
    await server.clock.advance(0);
    expect(watch.ended).toBe(true);
  });

  it("when the caller goes", async () => {
    const watch = await server.watch(`${IN_A}?watch=1&allowWatchBookmarks=1`);
    await watch.close();
    await put(IN_A, "x");
    await server.clock.advance(120_000);
    expect([watch.ended, await watch.seen()]).toEqual([true, []]);
  });

  it("when the server stops, with what it still had to say", async () => {
    const watch = await server.watch(`${IN_A}?watch=1`);
    await put(IN_A, "x");
    await server.close();
    expect([await watch.seen(), watch.ended]).toEqual([["ADDED x"], true]);
  });

  it("when the server stops, with a bookmark of the newest revision, if it takes bookmarks", async () => {
    await history();
    const [takes, takesNone, ahead] = [
      await server.watch(`${IN_A}?watch=1&resourceVersion=7&allowWatchBookmarks=true`),
      await server.watch(`${IN_A}?watch=1&resourceVersion=7`),
      await server.watch(`${IN_A}?watch=1&resourceVersion=9&allowWatchBookmarks=true`),
    ];
    await put(IN_B, "z");
    await server.close();
    expect([await takes.seen(), await takesNone.seen(), await ahead.seen()]).toEqual([["BOOKMARK 8"], [], []]);
    expect([takes.ended, takesNone.ended, ahead.ended]).toEqual([true, true, true]);
  });

  it("with an error when its revision is too old", async () => {
    await history();
    const restarted = await testServer({ store: server.store, clock: server.clock });
    const watch = await restarted.watch(`${IN_A}?watch=1&resourceVersion=3`);
    expect(await watch.seen()).toEqual(["ERROR 410"]);
    expect(watch.ended).toBe(true);
    expect(watch.events[0]?.object).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "too old resource version: 3 (7)",
      reason: "Expired",
      code: 410,
    });
    await restarted.close();
  });

  it("not because there is much to begin with", async () => {
    const data = { text: "x".repeat(1_000_000) };
    const add = async (from: number, to: number) => {
      for (let i = from; i < to; i++) await server.request("POST", IN_A, { body: configMap(`big${i}`, data) });
      await server.settle();
    };
    await add(0, 20);
    const watch = await server.watch(`${IN_A}?watch=1`, { stalled: true });
    expect([watch.ended, watch.events.length]).toEqual([false, 20]);
    await add(20, 40);
    expect(watch.ended).toBe(true);
  });

  it("when nobody reads it, while others go on", async () => {
    const stalled = await server.watch(`${IN_A}?watch=1`, { stalled: true });
    const reading = await server.watch(`${IN_A}?watch=1`);
    const data = { text: "x".repeat(1_000_000) };
    for (let i = 0; i < 20; i++) await server.request("POST", IN_A, { body: configMap(`big${i}`, data) });
    await server.settle();
    expect([stalled.ended, reading.ended, reading.events.length]).toEqual([true, false, 20]);
    expect(stalled.bytes.length).toBeLessThan(20_000_000);
  });
});
