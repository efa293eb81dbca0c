import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { openMemoryStore } from "#store";
import { HeldStore, type TestServer, type TestServerOptions, testServer } from "../testing/index.ts";
import { DEFINITIONS, definition, widget } from "./testing/index.ts";

const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const WIDGET_DEFINITION = `${DEFINITIONS}/widgets.example.com`;
const MERGE = { "content-type": "application/merge-patch+json" };

const servers: TestServer[] = [];
let server: TestServer;

async function start(options: TestServerOptions = {}): Promise<TestServer> {
  const started = await testServer(options);
  servers.push(started);
  return started;
}

beforeEach(async () => {
  server = await start();
});
afterEach(async () => {
  for (const each of servers.splice(0)) await each.close();
});

async function define(body: object = definition(), on = server) {
  const answer = await on.request("POST", DEFINITIONS, { body });
  expect(answer.status, answer.text).toBe(201);
  await on.settle();
}

const conditions = async (path = WIDGET_DEFINITION, on = server): Promise<readonly string[]> => {
  const { json } = await on.request("GET", path);
  const { conditions: all = [] } = json.status as { conditions?: readonly Record<string, string>[] };
  return all.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
};

const status = async (method: string, path: string, body?: object, on = server) =>
  (await on.request(method, path, body === undefined ? {} : { body })).status;

describe("a definition", () => {
  it("is served when it says that it is established", async () => {
    expect(await status("GET", WIDGETS)).toBe(404);
    await define();
    const { json } = await server.request("GET", WIDGET_DEFINITION);
    expect(json.status).toMatchObject({
      acceptedNames: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      storedVersions: ["v1"],
    });
    expect(await conditions()).toEqual(["NamesAccepted True NoConflicts", "Established True InitialNamesAccepted"]);
    const answer = await server.request("POST", WIDGETS, { body: widget("a", { size: 1 }) });
    expect([answer.status, answer.json]).toMatchObject([201, { spec: { size: 1 }, metadata: { generation: 1 } }]);
    expect((await server.request("GET", WIDGETS)).list.names).toEqual(["default/a"]);
  });

  it("that keeps unknown fields still refuses duplicate ones, if strict", async () => {
    const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    await define(definition({ versions: [{ name: "v1", storage: true, schema }] }));
    const body = (...lines: string[]) => ["apiVersion: example.com/v1", "kind: Widget", ...lines, ""].join("\n");
    const apply = async (text: string) => {
      const headers = { "content-type": "application/apply-patch+yaml" };
      const path = `${WIDGETS}/a?fieldManager=me&fieldValidation=Strict`;
      const { status, json } = await server.request("PATCH", path, { body: text, headers });
      return [status, json.message];
    };
    expect(await apply(body("metadata:", "  name: a", "spec:", "  new: {b: 1}", "  new: {b: 2}"))).toEqual([
      400,
      'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key "new" already set in map',
    ]);
    expect(await apply(body("metadata:", "  name: a", "spec:", "  new: {b: 1}"))).toEqual([201, undefined]);
  });

  it("writes nothing once all is said", async () => {
    await define();
    const before = server.context.feed.revision;
    await server.request("PATCH", WIDGET_DEFINITION, { body: { metadata: { labels: { a: "b" } } }, headers: MERGE });
    await server.settle();
    expect(server.context.feed.revision).toBe(before + 1);
  });

  it("gets a name when the one who had it is gone", async () => {
    await define();
    await define(definition({ plural: "gadgets", kind: "Widget", names: { singular: "gadget" } }));
    const gadgets = `${DEFINITIONS}/gadgets.example.com`;
    expect(await conditions(gadgets)).toEqual([
      "NamesAccepted False ListKindConflict",
      "Established False NotAccepted",
    ]);
    expect(await status("GET", "/apis/example.com/v1/gadgets")).toBe(404);
    await server.request("DELETE", WIDGET_DEFINITION);
    await server.settle();
    expect(await conditions(gadgets)).toEqual([
      "NamesAccepted True NoConflicts",
      "Established True InitialNamesAccepted",
    ]);
    expect(await status("GET", "/apis/example.com/v1/gadgets")).toBe(200);
  });

  it("that changes is served as it is then, and ends the watches of before", async () => {
    await define();
    await server.request("POST", WIDGETS, { body: widget("a", { size: 1 }) });
    const watch = await server.watch(`${WIDGETS}?watch=1`);
    const { json } = await server.request("GET", WIDGET_DEFINITION);
    const next = definition({
      versions: [
        { name: "v1", storage: true },
        { name: "v2", subresources: { status: {} } },
      ],
    });
    const { resourceVersion } = json.metadata as { resourceVersion: string };
    const body = { ...next, metadata: { ...next.metadata, resourceVersion } };
    expect(await status("PUT", WIDGET_DEFINITION, body)).toBe(200);
    await server.settle();
    expect([await watch.seen(), watch.ended]).toEqual([["ADDED a"], true]);
    const read = await server.request("GET", "/apis/example.com/v2/namespaces/default/widgets/a");
    expect(read.json).toMatchObject({ apiVersion: "example.com/v2", spec: { size: 1 } });
    expect(await status("GET", "/apis/example.com/v2/namespaces/default/widgets/a/status")).toBe(200);
    expect(await status("GET", `${WIDGETS}/a/status`)).toBe(404);
  });

  it("has no path but those of its versions that are served", async () => {
    await define(
      definition({
        versions: [
          { name: "v1", storage: true },
          { name: "v2", served: false },
        ],
      }),
    );
    const texts = await Promise.all(
      ["/apis/example.com/v2/widgets", "/apis/example.com/v1/gadgets", "/apis/example.com/v1/widgets/a"].map(
        async (path) => (await server.request("GET", path)).text,
      ),
    );
    expect(texts).toEqual(Array(3).fill("404 page not found\n"));
  });
});

describe("the end of a definition", () => {
  it("takes its instances along", async () => {
    await define();
    for (const name of ["a", "b"]) await server.request("POST", WIDGETS, { body: widget(name) });
    const watch = await server.watch(`${WIDGETS}?watch=1`);
    const { status: code, json } = await server.request("DELETE", WIDGET_DEFINITION);
    expect([code, json]).toMatchObject([
      200,
      {
        metadata: { finalizers: ["customresourcecleanup.apiextensions.k8s.io"], deletionTimestamp: expect.any(String) },
      },
    ]);
    await server.settle();
    expect(await status("GET", WIDGET_DEFINITION)).toBe(404);
    expect(await status("GET", WIDGETS)).toBe(404);
    expect((await watch.seen()).toSorted()).toEqual(["ADDED a", "ADDED b", "DELETED a", "DELETED b"]);
    expect(watch.ended).toBe(true);
    const left = await server.store.list("/registry/example.com/");
    expect(left.entries).toEqual([]);
  });

  it("waits for finalizers of instances, tells so, and lets nothing new in", async () => {
    await define();
    const held = { ...widget("held"), metadata: { name: "held", finalizers: ["example.com/hold"] } };
    await server.request("POST", WIDGETS, { body: held });
    await server.request("DELETE", WIDGET_DEFINITION);
    await server.settle();
    expect(await conditions()).toContain("Terminating True InstanceDeletionInProgress");
    const refused = await server.request("POST", WIDGETS, { body: widget("late") });
    expect(refused.json).toMatchObject({
      code: 403,
      message:
        'widgets.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
    });
    const list = await server.request("GET", "/apis/example.com/v1");
    const [resource] = list.json.resources as readonly JsonObject[];
    expect(resource?.verbs).toEqual(["delete", "deletecollection", "get", "list", "watch"]);

    await server.clock.advance(61_000);
    await server.settle();
    expect(await conditions()).toContainEqual(expect.stringMatching(/^Terminating True InstanceDeletion/));

    await server.request("PATCH", `${WIDGETS}/held`, { body: { metadata: { finalizers: null } }, headers: MERGE });
    await server.settle();
    await server.clock.advance(120_000);
    await server.settle();
    expect(await status("GET", WIDGET_DEFINITION)).toBe(404);
  });

  it("that was never established is quick, and leaves others alone", async () => {
    await define();
    await server.request("POST", WIDGETS, { body: widget("a") });
    await define(definition({ plural: "gadgets", kind: "Widget" }));
    await server.request("DELETE", `${DEFINITIONS}/gadgets.example.com`);
    await server.settle();
    expect(await status("GET", `${DEFINITIONS}/gadgets.example.com`)).toBe(404);
    expect((await server.request("GET", WIDGETS)).list.names).toEqual(["default/a"]);
  });

  it("may be followed by a new one of the same name", async () => {
    await define();
    await server.request("POST", WIDGETS, { body: widget("a") });
    await server.request("DELETE", WIDGET_DEFINITION);
    await server.settle();
    await define(definition({ scope: "Cluster" }));
    await server.request("POST", "/apis/example.com/v1/widgets", { body: widget("b") });
    expect((await server.request("GET", "/apis/example.com/v1/widgets")).list.names).toEqual(["b"]);
  });
});

describe("a server that starts", () => {
  it("serves what was there before", async () => {
    const store = openMemoryStore({ clock: server.clock });
    const first = await start({ store, clock: server.clock });
    await define(definition(), first);
    for (const name of ["a", "b"]) await first.request("POST", WIDGETS, { body: widget(name, { size: 1 }) });
    await first.close();
    const second = await start({ store, clock: server.clock, seed: 2 });
    const before = second.context.feed.revision;
    expect((await second.request("GET", WIDGETS)).list.names).toEqual(["default/a", "default/b"]);
    expect(await status("POST", WIDGETS, widget("c"), second)).toBe(201);
    expect(second.context.feed.revision).toBe(before + 1);
    const found = await second.request("GET", "/apis/example.com/v1");
    expect(found.json).toMatchObject({ resources: [{ name: "widgets", kind: "Widget" }] });
  });

  it("reads instances when they are asked for: one that cannot be read keeps nobody from the others", async () => {
    const store = openMemoryStore({ clock: server.clock });
    const first = await start({ store, clock: server.clock });
    await define(definition(), first);
    await first.request("POST", WIDGETS, { body: widget("a") });
    await first.close();
    await store.create("/registry/example.com/widgets/default/broken", Buffer.from("no JSON"));
    const second = await start({ store, clock: server.clock, seed: 2 });
    expect(await status("GET", `${WIDGETS}/a`, undefined, second)).toBe(200);
    expect(await status("GET", `${WIDGETS}/broken`, undefined, second)).toBe(500);
  });

  it("goes on with a deletion that was under way", async () => {
    const store = openMemoryStore({ clock: server.clock });
    const first = await start({ store, clock: server.clock });
    await define(definition(), first);
    const held = { ...widget("held"), metadata: { name: "held", finalizers: ["example.com/hold"] } };
    await first.request("POST", WIDGETS, { body: held });
    await first.request("DELETE", WIDGET_DEFINITION);
    await first.close();
    const second = await start({ store, clock: server.clock, seed: 2 });
    await second.request("PATCH", `${WIDGETS}/held`, { body: { metadata: { finalizers: null } }, headers: MERGE });
    await second.settle();
    expect(await status("GET", WIDGET_DEFINITION, undefined, second)).toBe(404);
  });
});

describe("two servers on one store", () => {
  it("serve the same, come to rest, and see each other's instances", async () => {
    const store = openMemoryStore({ clock: server.clock });
    const [one, other] = [
      await start({ store, clock: server.clock, seed: 1 }),
      await start({ store, clock: server.clock, seed: 2 }),
    ];
    await define(definition(), one);
    await other.settle();
    const rest = await store.revision();
    expect(await status("POST", WIDGETS, widget("a"), other)).toBe(201);
    expect((await one.request("GET", `${WIDGETS}/a`)).status).toBe(200);
    await one.settle();
    expect(await store.revision()).toBe(rest + 1);
    await other.request("DELETE", WIDGET_DEFINITION);
    await one.settle();
    await other.settle();
    expect([await status("GET", WIDGETS, undefined, one), await status("GET", WIDGETS, undefined, other)]).toEqual([
      404, 404,
    ]);
    expect((await store.list("/registry/example.com/")).entries).toEqual([]);
    expect(await store.count("/registry/apiextensions.k8s.io/customresourcedefinitions/")).toBe(0);
  });

  it("find what the other has established a moment ago", async () => {
    const store = openMemoryStore({ clock: server.clock });
    const held = new HeldStore(store);
    const one = await start({ store, clock: server.clock, seed: 1 });
    const late = await start({ store: held, clock: server.clock, seed: 2 });
    held.hold();
    await define(definition(), one);
    const asked = late.request("POST", WIDGETS, { body: widget("a") });
    await late.settle();
    held.release();
    expect((await asked).status).toBe(201);
    expect(await status("GET", "/apis/example.com/v1/gadgets", undefined, late)).toBe(404);
  });

  it("give a name that both are asked for to one definition only", async () => {
    const store = openMemoryStore({ clock: server.clock });
    const [one, other] = [
      await start({ store, clock: server.clock, seed: 1 }),
      await start({ store, clock: server.clock, seed: 2 }),
    ];
    await Promise.all([
      define(definition({ plural: "as", kind: "A", names: { shortNames: ["w"] } }), one),
      define(definition({ plural: "bs", kind: "B", names: { shortNames: ["w"] } }), one),
    ]);
    await other.settle();
    const all = await Promise.all(
      ["as", "bs"].map((plural) => conditions(`${DEFINITIONS}/${plural}.example.com`, other)),
    );
    expect(all.map(([names]) => names).toSorted()).toEqual([
      "NamesAccepted False ShortNamesConflict",
      "NamesAccepted True NoConflicts",
    ]);
  });
});
