/**
 * Random writes and watchers, against a model: whatever is written, and whenever a watcher begins, it can rebuild from
 * its events exactly what its selection shows.
 */
import { MessageChannel } from "node:worker_threads";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "#api";
import { settled, VirtualClock } from "#base";
import { openMemoryStore, openRemoteStore, StoreHost } from "#store";
import { configMap, type TestServer, type TestWatch, testServer } from "../testing/index.ts";

type Labels = Readonly<Record<string, string>>;

type Step =
  | {
      readonly do: "put";
      readonly namespace: string;
      readonly name: string;
      readonly labels: Labels;
      readonly value: string;
    }
  | { readonly do: "delete"; readonly namespace: string; readonly name: string }
  | {
      readonly do: "watch";
      readonly scope: number;
      readonly labels: number;
      readonly from: "now" | "list" | "initial";
    };

const NAMESPACES = ["a", "a-b", "b"];
const NAMES = ["x", "x-y", "y"];

/** Scopes and selectors as requests write them, and as the model understands them. */
const SCOPES: readonly { path: string; field: string; has(namespace: string, name: string): boolean }[] = [
  { path: "/api/v1/configmaps", field: "", has: () => true },
  { path: "/api/v1/namespaces/a/configmaps", field: "", has: (namespace) => namespace === "a" },
  {
    path: "/api/v1/namespaces/a/configmaps",
    field: "metadata.name=x",
    has: (namespace, name) => namespace === "a" && name === "x",
  },
  { path: "/api/v1/configmaps", field: "metadata.name!=x", has: (_, name) => name !== "x" },
];
const SELECTORS: readonly { text: string; matches(labels: Labels): boolean }[] = [
  { text: "", matches: () => true },
  { text: "on=1", matches: ({ on }) => on === "1" },
  { text: "on!=1", matches: ({ on }) => on !== "1" },
  { text: "on in (1,2),!off", matches: ({ on = "", off }) => ["1", "2"].includes(on) && off === undefined },
];

const labels = fc.record({ on: fc.constantFrom("1", "2", "3"), off: fc.constant("1") }, { requiredKeys: [] });
const place = { namespace: fc.constantFrom(...NAMESPACES), name: fc.constantFrom(...NAMES) };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("put" as const), ...place, labels, value: fc.constantFrom("1", "2") }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), ...place }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("watch" as const),
      scope: fc.nat(SCOPES.length - 1),
      labels: fc.nat(SELECTORS.length - 1),
      from: fc.constantFrom("now" as const, "list" as const, "initial" as const),
    }),
  },
);

interface Watching {
  readonly watch: TestWatch;
  /** What the watcher had listed before. */
  readonly listed: readonly KubeObject[];
  readonly selects: (object: KubeObject) => boolean;
}

const keyOf = ({ metadata }: KubeObject) => `${metadata.namespace}/${metadata.name}`;

async function write(
  server: TestServer,
  step: Exclude<Step, { do: "watch" }>,
  model: Map<string, KubeObject>,
): Promise<void> {
  const path = `/api/v1/namespaces/${step.namespace}/configmaps`;
  const key = `${step.namespace}/${step.name}`;
  if (step.do === "delete") {
    const { status } = await server.request("DELETE", `${path}/${step.name}`);
    expect(status).toBe(model.delete(key) ? 200 : 404);
    return;
  }
  const body = configMap(step.name, { value: step.value }, { labels: step.labels });
  const answer = model.has(key)
    ? await server.request("PUT", `${path}/${step.name}`, { body })
    : await server.request("POST", path, { body });
  expect(answer.status).toBe(model.has(key) ? 200 : 201);
  model.set(key, answer.json as unknown as KubeObject);
}

async function begin(server: TestServer, { scope, labels, from }: Extract<Step, { do: "watch" }>): Promise<Watching> {
  const { path, field, has } = SCOPES[scope] ?? expect.unreachable();
  const { text, matches } = SELECTORS[labels] ?? expect.unreachable();
  const query = `labelSelector=${encodeURIComponent(text)}&fieldSelector=${encodeURIComponent(field)}`;
  const selects = ({ metadata }: KubeObject) =>
    has(metadata.namespace ?? "", metadata.name ?? "") && matches(metadata.labels ?? {});
  if (from === "now") return { watch: await server.watch(`${path}?watch=1&${query}`), listed: [], selects };
  if (from === "initial") {
    const initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    return { watch: await server.watch(`${path}?watch=1&${initial}&${query}`), listed: [], selects };
  }
  const { list } = await server.request("GET", `${path}?${query}`);
  const watch = await server.watch(`${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}&${query}`);
  return { watch, listed: list.items.map((item) => ({ kind: "ConfigMap", apiVersion: "v1", ...item })), selects };
}

/** What a watcher knows, from its list and its events alone. Holds the events to their rules on the way. */
function rebuilt({ watch, listed, selects }: Watching): Map<string, KubeObject> {
  const known = new Map(listed.map((object) => [keyOf(object), object]));
  let last = 0;
  let initial = listed.length === 0;
  for (const { type, object } of watch.events) {
    const revision = Number(object.metadata.resourceVersion);
    // Initial objects come in the order of their names, everything after them in the order of revisions.
    if (!initial || type !== "ADDED") {
      expect(revision).toBeGreaterThanOrEqual(last);
      initial = false;
    }
    last = Math.max(last, revision);
    if (type === "BOOKMARK") continue;
    const key = keyOf(object);
    expect(["ADDED", "MODIFIED", "DELETED"]).toContain(type);
    expect({ key, type, known: known.has(key) }).toEqual({ key, type, known: type !== "ADDED" });
    expect(selects(object)).toBe(true);
    if (type === "DELETED") known.delete(key);
    else known.set(key, object);
  }
  return known;
}

interface Servers {
  /** Each step is another one's. */
  readonly servers: readonly TestServer[];
  /** Waits until every watcher has what it gets. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

async function oneServer(): Promise<Servers> {
  const server = await testServer();
  return { servers: [server], settle: () => server.settle(), close: () => server.close() };
}

/** Three servers over one store, two of them through ports, as threads are. */
async function threeThreads(): Promise<Servers> {
  const clock = new VirtualClock();
  const failed = (error: unknown) => expect.unreachable(String(error));
  const host = new StoreHost(openMemoryStore({ clock }), { isShared: false, failed });
  const remote = async () => {
    const { port1, port2 } = new MessageChannel();
    const opening = openRemoteStore(port2);
    await host.attach(port1);
    return opening;
  };
  const newest = () => host.newest.get();
  const first = await testServer({ store: host, clock, seed: 1, thread: { newest, isFirst: true } });
  const servers = [first];
  const stores = [await remote(), await remote()];
  for (const [i, store] of stores.entries())
    servers.push(await testServer({ store, clock, seed: i + 2, thread: { newest, isFirst: false } }));
  return {
    servers,
    settle: async () => {
      do await settled();
      while (servers.some(({ context }) => context.feed.revision < newest()));
      await settled();
    },
    close: async () => {
      for (const server of servers) await server.close();
      for (const store of stores) await store.close();
      await host.close();
    },
  };
}

describe("watchers of random writes", () => {
  it.each([
    { name: "one server", open: oneServer, numRuns: 60 },
    { name: "three threads of a server", open: threeThreads, numRuns: 20 },
  ])("can rebuild what their selection shows: $name", async ({ open, numRuns }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
        const { servers, settle, close } = await open();
        try {
          const model = new Map<string, KubeObject>();
          const watching: Watching[] = [];
          for (const [i, each] of steps.entries()) {
            const server = servers[i % servers.length] ?? expect.unreachable();
            if (each.do === "watch") watching.push(await begin(server, each));
            else await write(server, each, model);
          }
          await settle();
          for (const watcher of watching) {
            const want = new Map([...model].filter(([, object]) => watcher.selects(object)));
            expect(Object.fromEntries(rebuilt(watcher))).toEqual(Object.fromEntries(want));
            expect(watcher.watch.ended).toBe(false);
          }
        } finally {
          await close();
        }
      }),
      { numRuns },
    );
  });
});
