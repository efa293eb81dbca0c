import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { settled, VirtualClock } from "#base";
import { openMemoryStore } from "#store";
import { configMap, deployment, namespace, type TestServer, testServer } from "../../testing/index.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const X = `${CONFIG_MAPS}/x`;
const HOLD = "example.com/hold";

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
});
afterEach(() => server.close());
const get = (path: string) => server.request("GET", path);
const post = (path: string, body: object) => server.request("POST", path, { body });
const remove = (path: string, body?: object) => server.request("DELETE", path, body === undefined ? {} : { body });
const patch = (path: string, body: object) =>
  server.request("PATCH", path, { body, headers: { "content-type": "application/merge-patch+json" } });

describe("delete", () => {
  it("is gone at once, and says so", async () => {
    const { metadata } = await post(CONFIG_MAPS, configMap("x"));
    const { status, json } = await remove(X);
    expect(status).toBe(200);
    expect(json).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "x", kind: "configmaps", uid: metadata.uid },
    });
    expect((await get(X)).status).toBe(404);
    expect((await remove(X)).json).toMatchObject({ code: 404, message: 'configmaps "x" not found' });
  });

  it("lets one of many do it", async () => {
    await post(CONFIG_MAPS, configMap("x"));
    const answers = await Promise.all(Array.from({ length: 5 }, () => remove(X)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
  });

  it("lets a new one begin anew", async () => {
    const first = await post(CONFIG_MAPS, configMap("x"));
    await remove(X);
    const second = await post(CONFIG_MAPS, configMap("x"));
    expect([second.status, second.metadata.uid === first.metadata.uid]).toEqual([201, false]);
  });

  it("as a dry run leaves it", async () => {
    await post(CONFIG_MAPS, configMap("x", {}, { finalizers: [HOLD] }));
    await post(CONFIG_MAPS, configMap("y"));
    expect([
      (await remove(`${X}?dryRun=All`)).status,
      (await remove(`${CONFIG_MAPS}/y`, { dryRun: ["All"] })).status,
    ]).toEqual([200, 200]);
    const { list } = await get(CONFIG_MAPS);
    expect(list.items.map(({ metadata }) => metadata.deletionTimestamp)).toEqual([undefined, undefined]);
  });

  it("as a dry run shows the mark that it would get", async () => {
    await post(CONFIG_MAPS, configMap("x", {}, { finalizers: [HOLD] }));
    const { metadata } = await remove(`${X}?dryRun=All`);
    expect(metadata).toMatchObject({ deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 });
  });

  it.each([
    {
      name: "a torn body",
      body: '{"bad',
      message: "couldn't get version/kind; json parse error: unexpected end of JSON input",
    },
    {
      name: "another kind",
      body: '{"kind":"ConfigMap","apiVersion":"v1"}',
      message:
        'no kind "ConfigMap" is registered for version "v1" in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"',
    },
  ])("refuses $name", async ({ body, message }) => {
    await post(CONFIG_MAPS, configMap("x"));
    const { json } = await server.request("DELETE", X, { body, headers: { "content-type": "application/json" } });
    expect(json).toMatchObject({ code: 400, message });
  });
});

describe("preconditions", () => {
  it.each([
    { name: "its uid", body: (uid: string) => ({ preconditions: { uid } }), status: 200 },
    { name: "its resourceVersion", body: () => ({ preconditions: { resourceVersion: "1" } }), status: 200 },
    {
      name: "another uid",
      body: () => ({ preconditions: { uid: "other" } }),
      status: 409,
      message: /the UID in the precondition \(other\) does not match the UID in record/,
    },
    {
      name: "another resourceVersion",
      body: () => ({ preconditions: { resourceVersion: "7" } }),
      status: 409,
      message: /the ResourceVersion in the precondition \(7\) does not match/,
    },
  ])("$name: $status", async ({ body, status, message }) => {
    const { metadata } = await post(CONFIG_MAPS, configMap("x"));
    const answer = await remove(X, body(metadata.uid ?? ""));
    expect(answer.status).toBe(status);
    if (message !== undefined)
      expect(answer.json).toMatchObject({ reason: "Conflict", message: expect.stringMatching(message) });
    expect((await get(X)).status).toBe(status === 200 ? 404 : 200);
  });
});

describe("finalizers", () => {
  const held = () => post(CONFIG_MAPS, configMap("x", { a: "1" }, { finalizers: [HOLD] }));

  it("hold an object: it is marked, and waits", async () => {
    await held();
    await server.clock.advance(5_000);
    const { status, json } = await remove(X);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      kind: "ConfigMap",
      metadata: {
        finalizers: [HOLD],
        deletionTimestamp: "2030-01-01T00:00:05Z",
        deletionGracePeriodSeconds: 0,
        resourceVersion: "2",
      },
    });
    expect((await get(X)).json).toEqual(json);
  });

  it("stay marked the same, however often they are deleted", async () => {
    await held();
    const first = await remove(X);
    await server.clock.advance(5_000);
    expect((await remove(X)).text).toBe(first.text);
  });

  it("let it go when the last one is taken away", async () => {
    const { metadata } = await held();
    await remove(X);
    const watch = await server.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=2`);
    const last = await patch(X, { metadata: { finalizers: null } });
    expect([last.status, last.metadata.uid]).toEqual([200, metadata.uid]);
    expect([(await get(X)).status, await watch.seen()]).toEqual([404, ["DELETED x"]]);
  });

  it("one of two taken away does not let it go", async () => {
    await post(CONFIG_MAPS, configMap("x", {}, { finalizers: [HOLD, "example.com/other"] }));
    await remove(X);
    await patch(X, { metadata: { finalizers: [HOLD] } });
    expect((await get(X)).metadata).toMatchObject({ finalizers: [HOLD], deletionTimestamp: expect.any(String) });
  });

  it("can still be changed while they hold, but not added, and the mark stays", async () => {
    await held();
    await remove(X);
    const changed = await patch(X, {
      data: { a: "2" },
      metadata: { deletionTimestamp: null, deletionGracePeriodSeconds: null },
    });
    expect(changed.metadata).toMatchObject({ deletionTimestamp: "2030-01-01T00:00:00Z" });
    expect((await patch(X, { metadata: { finalizers: [HOLD, "example.com/new"] } })).json).toMatchObject({
      code: 422,
      message: expect.stringContaining(
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted",
      ),
    });
  });

  it("taken away from an object that nobody deleted change nothing else", async () => {
    await held();
    expect((await patch(X, { metadata: { finalizers: null } })).status).toBe(200);
    expect((await get(X)).status).toBe(200);
  });

  it.each(["hold", "a b/c"])("are refused without a good name: %s", async (finalizer) => {
    expect((await post(CONFIG_MAPS, configMap("x", {}, { finalizers: [finalizer] }))).status).toBe(422);
  });
});

describe("propagation policies", () => {
  it.each([
    { policy: "Background", present: [], want: undefined },
    { policy: "Foreground", present: [], want: ["foregroundDeletion"] },
    { policy: "Orphan", present: [], want: ["orphan"] },
    { policy: "Foreground", present: [HOLD], want: [HOLD, "foregroundDeletion"] },
    { policy: "Orphan", present: ["foregroundDeletion"], want: ["orphan"] },
    { policy: "Background", present: ["orphan", HOLD], want: [HOLD] },
    { policy: undefined, present: ["orphan"], want: ["orphan"] },
    { policy: undefined, present: [], want: undefined },
  ])("$policy over $present: $want", async ({ policy, present, want }) => {
    await post(DEPLOYMENTS, deployment("d", 1, { finalizers: present }));
    await remove(`${DEPLOYMENTS}/d${policy === undefined ? "" : `?propagationPolicy=${policy}`}`);
    const found = await get(`${DEPLOYMENTS}/d`);
    expect(found.status).toBe(want === undefined ? 404 : 200);
    if (want !== undefined)
      expect(found.metadata).toMatchObject({ finalizers: want, deletionTimestamp: expect.any(String), generation: 2 });
  });

  it("can be changed while an object waits", async () => {
    await post(DEPLOYMENTS, deployment("d"));
    await remove(`${DEPLOYMENTS}/d?propagationPolicy=Foreground`);
    await remove(`${DEPLOYMENTS}/d`, { propagationPolicy: "Orphan" });
    expect((await get(`${DEPLOYMENTS}/d`)).metadata.finalizers).toEqual(["orphan"]);
  });
});

describe("a namespace", () => {
  it("waits for its own finalizers", async () => {
    await post("/api/v1/namespaces", namespace("n"));
    const before = await get("/api/v1/namespaces/n");
    const watch = await server.watch("/api/v1/namespaces?watch=1&resourceVersion=1");
    const { status, json } = await remove("/api/v1/namespaces/n");
    expect(status).toBe(200);
    expect(json).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String) },
      status: { phase: "Terminating" },
      spec: { finalizers: ["kubernetes"] },
    });
    // The state before it is what it was: nothing is changed in place.
    expect(before.json).toMatchObject({ status: { phase: "Active" } });
    const exact = await get(
      "/api/v1/namespaces?resourceVersion=1&resourceVersionMatch=Exact&fieldSelector=status.phase%3DActive",
    );
    expect(exact.list.names).toEqual(["n"]);
    const done = await server.request("PUT", "/api/v1/namespaces/n/finalize", {
      body: { ...namespace("n"), spec: {} },
    });
    expect([done.status, (await get("/api/v1/namespaces/n")).status]).toEqual([200, 404]);
    expect(await watch.seen()).toEqual(["MODIFIED n", "DELETED n"]);
  });

  it("leaves a selection by its phase when it is deleted", async () => {
    await post("/api/v1/namespaces", namespace("n"));
    const watch = await server.watch("/api/v1/namespaces?watch=1&fieldSelector=status.phase%3DActive");
    await remove("/api/v1/namespaces/n");
    expect(await watch.seen()).toEqual(["ADDED n", "DELETED n"]);
  });
});

describe("deletecollection", () => {
  const fill = async () => {
    for (const name of ["a", "b", "c"])
      await post(CONFIG_MAPS, configMap(name, {}, { labels: { on: name === "b" ? "0" : "1" } }));
    await post("/api/v1/namespaces/other/configmaps", configMap("a"));
  };
  const left = async () => (await get("/api/v1/configmaps")).list.names;

  it.each([
    { query: "", want: ["other/a"] },
    { query: "?labelSelector=on%3D1", want: ["default/b", "other/a"] },
    { query: "?fieldSelector=metadata.name%3Da", want: ["default/b", "default/c", "other/a"] },
    { query: "?limit=1", want: ["default/b", "default/c", "other/a"] },
    { query: "?dryRun=All", want: ["default/a", "default/b", "default/c", "other/a"] },
  ])("$query leaves $want", async ({ query, want }) => {
    await fill();
    const { status, json } = await remove(CONFIG_MAPS + query);
    expect([status, json.kind]).toEqual([200, "ConfigMapList"]);
    expect(await left()).toEqual(want);
  });

  it("marks what finalizers hold", async () => {
    await fill();
    await post(CONFIG_MAPS, configMap("held", {}, { finalizers: [HOLD] }));
    await remove(CONFIG_MAPS);
    expect(await left()).toEqual(["default/held", "other/a"]);
    expect((await get(`${CONFIG_MAPS}/held`)).metadata.deletionTimestamp).toBeDefined();
  });

  it("is not for all namespaces at once", async () => {
    await fill();
    expect((await remove("/api/v1/configmaps")).status).toBe(405);
    expect(await left()).toHaveLength(4);
  });

  it("deletes many, while others delete them too", async () => {
    for (let i = 0; i < 100; i++) await post(CONFIG_MAPS, configMap(`x${i}`));
    const answers = await Promise.all([remove(CONFIG_MAPS), remove(CONFIG_MAPS), remove(`${CONFIG_MAPS}/x50`)]);
    expect(answers.slice(0, 2).map(({ status }) => status)).toEqual([200, 200]);
    expect(await left()).toEqual([]);
  });
});

describe("without a garbage collector", () => {
  it.each(["Orphan", "Foreground", "Background"])(
    "policy %s adds no finalizer, and keeps those of others",
    async (policy) => {
      const alone = await testServer({ storageSettings: { garbageCollection: false } });
      await alone.request("POST", CONFIG_MAPS, { body: configMap("x") });
      await alone.request("POST", CONFIG_MAPS, { body: configMap("held", {}, { finalizers: [HOLD, "orphan"] }) });
      const body = { propagationPolicy: policy };
      expect((await alone.request("DELETE", X, { body })).json).toMatchObject({ status: "Success" });
      const { metadata } = await alone.request("DELETE", `${CONFIG_MAPS}/held`, { body });
      expect(metadata.finalizers).toEqual([HOLD, "orphan"]);
      await alone.close();
    },
  );
});

describe("--delete-collection-workers", () => {
  it.each([
    { deleteWorkers: 1, want: 1 },
    { deleteWorkers: 3, want: 3 },
    { deleteWorkers: 0, want: 1 },
  ])("$deleteWorkers deletes $want at a time", async ({ deleteWorkers, want }) => {
    const inner = openMemoryStore({ clock: new VirtualClock() });
    let [now, most] = [0, 0];
    const store = Object.assign(Object.create(inner) as typeof inner, {
      delete: async (key: string, revision: number) => {
        most = Math.max(most, ++now);
        await settled();
        now--;
        return inner.delete(key, revision);
      },
      get: inner.get.bind(inner),
      list: inner.list.bind(inner),
      create: inner.create.bind(inner),
      watch: inner.watch.bind(inner),
      revision: inner.revision.bind(inner),
    });
    const own = await testServer({ store, storageSettings: { deleteWorkers } });
    for (let i = 0; i < 6; i++) await own.request("POST", CONFIG_MAPS, { body: configMap(`x${i}`) });
    expect((await own.request("DELETE", CONFIG_MAPS)).status).toBe(200);
    expect([most, (await own.request("GET", CONFIG_MAPS)).list.items.length]).toEqual([want, 0]);
    await own.close();
    await inner.close();
  });
});
