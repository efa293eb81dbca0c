import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isStatusError, type Kind, type KubeObject } from "#api";
import { realClock } from "#base";
import { ConfigMap } from "../../api/core/config-map.ts";
import { Namespace } from "../../api/core/namespace.ts";
import type { ConfigMap as ConfigMapObject } from "../../api/types/core-v1.ts";
import {
  Client,
  https,
  inProcess,
  type ResourceClient,
  type ResourceName,
  type Transport,
  type WatchEvent,
} from "../index.ts";
import { startTestApiServer, type TestApiServer, TOKEN } from "../testing/api-server.ts";

const ADMIN = { name: "admin", groups: ["system:masters"] };
const clock = realClock();
let api: TestApiServer;

beforeAll(async () => {
  api = await startTestApiServer();
});
afterAll(() => api.stop());

const transports: Record<string, () => Transport> = {
  "https with a certificate": () => https(api.connection, { clock }),
  "https with a token": () => {
    const { server, caPem } = api.connection;
    return https({ server, caPem, token: TOKEN }, { clock });
  },
  "in process": () => inProcess(api.server.handle, ADMIN),
};

describe.each(Object.entries(transports))("client: %s", (name, open) => {
  const namespace = name.replaceAll(" ", "-");
  let client: Client;
  let configMaps: ResourceClient<ConfigMapObject>;

  beforeAll(async () => {
    client = new Client({ transport: open(), clock, userAgent: "client-test/1" });
    await client.of(Namespace).create({ metadata: { name: namespace } });
    configMaps = client.of(ConfigMap).in(namespace);
  });
  afterAll(() => client.close());

  const configMap = (name: string, data: Record<string, string> = {}): ConfigMapObject => ({
    metadata: { name },
    data,
  });

  it("creates, gets, updates and deletes", async () => {
    const created = await configMaps.create(configMap("one", { a: "1" }));
    expect(created).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "one", namespace } });
    expect(await configMaps.get("one")).toEqual(created);
    const updated = await configMaps.update({ ...created, data: { a: "2" } });
    expect(updated.data).toEqual({ a: "2" });
    await configMaps.delete("one");
    await expect(configMaps.get("one")).rejects.toMatchObject({ reason: "NotFound", code: 404 });
  });

  it("answers are the caller's own, or shared with the server: then nobody can change them", async () => {
    const created = await configMaps.create(configMap("shared", { a: "1" }));
    const change = () => Object.assign(created.data ?? {}, { a: "2" });
    if (name === "in process") expect(change).toThrow(TypeError);
    else change();
    expect((await configMaps.get("shared")).data).toEqual({ a: "1" });
  });

  it("sends what an object is when it is sent: what its owner does with it afterwards is not", async () => {
    const mine = configMap("mine", { a: "1" });
    const creating = configMaps.create(mine);
    Object.assign(mine.data ?? {}, { a: "2" });
    expect((await creating).data).toEqual({ a: "1" });
    Object.assign(mine.data ?? {}, { a: "3" });
    expect((await configMaps.get("mine")).data).toEqual({ a: "1" });
  });

  it("sends an object as JSON would be read: what is undefined is not there", async () => {
    const strange = { metadata: { name: "strange", labels: { a: undefined } }, data: { a: "1", b: undefined } };
    const { data, metadata } = await configMaps.create(strange as unknown as ConfigMapObject);
    expect([data, metadata.labels]).toEqual([{ a: "1" }, undefined]);
    const wrong = { metadata: { name: "wrong" }, data: { a: 1 } } as unknown as ConfigMapObject;
    await expect(configMaps.create(wrong)).rejects.toMatchObject({ code: 400 });
    const other = { ...configMap("other"), kind: "Secret" } as ConfigMapObject;
    await expect(configMaps.create(other)).rejects.toMatchObject({ code: 400 });
    const unknown = { ...configMap("unknown"), strange: 1 } as ConfigMapObject;
    await expect(configMaps.create(unknown, { fieldValidation: "Strict" })).rejects.toThrow('unknown field "strange"');
  });

  it("creates by the namespace of the object", async () => {
    const created = await client.of(ConfigMap).create({ metadata: { name: "placed", namespace } });
    expect(created.metadata.namespace).toBe(namespace);
    await expect(async () => client.of(ConfigMap).get("placed")).rejects.toThrow("is namespaced");
  });

  it("owns fields under the first part of its user agent", async () => {
    const { metadata } = await configMaps.create(configMap("owned", { a: "1" }));
    expect(metadata.managedFields?.map(({ manager }) => manager)).toEqual(["client-test"]);
  });

  it("a stale update is a Conflict, a second create AlreadyExists", async () => {
    const first = await configMaps.create(configMap("stale", { a: "1" }));
    await configMaps.update({ ...first, data: { a: "2" } });
    await expect(configMaps.update({ ...first, data: { a: "3" } })).rejects.toMatchObject({ reason: "Conflict" });
    await expect(configMaps.create(configMap("stale"))).rejects.toMatchObject({ reason: "AlreadyExists" });
  });

  it("a dry run stores nothing", async () => {
    await configMaps.create(configMap("dry"), { dryRun: true });
    await expect(configMaps.get("dry")).rejects.toMatchObject({ reason: "NotFound" });
  });

  it.each([
    { patch: { type: "merge", object: { data: { a: null, b: "2" } } } as const, want: { b: "2" } },
    {
      patch: { type: "json", operations: [{ op: "add", path: "/data/b", value: "2" }] } as const,
      want: { a: "1", b: "2" },
    },
    { patch: { type: "strategic", object: { data: { b: "2" } } } as const, want: { a: "1", b: "2" } },
  ])("patches: $patch.type", async ({ patch, want }) => {
    const name = `patched-${patch.type}`;
    await configMaps.create(configMap(name, { a: "1" }));
    expect((await configMaps.patch(name, patch)).data).toEqual(want);
  });

  it("applies, and is told of conflicts", async () => {
    const apply = (value: string, fieldManager: string, force?: boolean) =>
      configMaps.apply(
        { metadata: { name: "applied" }, data: { a: value } },
        { fieldManager, ...(force !== undefined && { force }) },
      );
    expect((await apply("1", "one")).data).toEqual({ a: "1" });
    await expect(apply("2", "two")).rejects.toMatchObject({ reason: "Conflict" });
    expect((await apply("2", "two", true)).data).toEqual({ a: "2" });
  });

  it("lists with selectors, page by page and one by one", async () => {
    const labels = { page: "yes" };
    for (const i of [1, 2, 3, 4, 5]) await configMaps.create({ metadata: { name: `page-${i}`, labels } });
    const all = await configMaps.list({ labelSelector: "page=yes" });
    expect(all.items.map(({ kind, metadata }) => [kind, metadata.name])).toEqual(
      [1, 2, 3, 4, 5].map((i) => ["ConfigMap", `page-${i}`]),
    );
    const first = await configMaps.list({ labelSelector: "page=yes", limit: 2 });
    expect(first.items).toHaveLength(2);
    expect(first.metadata.continue).toBeDefined();
    const names: (string | undefined)[] = [];
    for await (const { metadata } of configMaps.each({ labelSelector: "page=yes", limit: 2 }))
      names.push(metadata.name);
    expect(names).toEqual([1, 2, 3, 4, 5].map((i) => `page-${i}`));
  });

  it("deletes a collection", async () => {
    const labels = { gone: "yes" };
    for (const i of [1, 2]) await configMaps.create({ metadata: { name: `gone-${i}`, labels } });
    const deleted = await configMaps.deleteCollection({ labelSelector: "gone=yes" });
    expect(deleted.items.map(({ metadata }) => metadata.name)).toEqual(["gone-1", "gone-2"]);
    expect((await configMaps.list({ labelSelector: "gone=yes" })).items).toEqual([]);
  });

  it("refuses a delete whose precondition does not hold", async () => {
    await configMaps.create(configMap("kept"));
    await expect(configMaps.delete("kept", { preconditions: { uid: "another" } })).rejects.toMatchObject({
      reason: "Conflict",
    });
  });

  it("watches from a revision until it is left", async () => {
    const { metadata } = await configMaps.list();
    const seen: [string, string | undefined][] = [];
    const watching = (async () => {
      for await (const event of configMaps.watch({
        resourceVersion: metadata.resourceVersion,
        labelSelector: "seen=yes",
      })) {
        if (event.type !== "BOOKMARK") seen.push([event.type, event.object.data?.a]);
        if (event.type === "DELETED") return;
      }
    })();
    const created = await configMaps.create({
      metadata: { name: "watched", labels: { seen: "yes" } },
      data: { a: "1" },
    });
    await configMaps.update({ ...created, data: { a: "2" } });
    await configMaps.delete("watched");
    await watching;
    expect(seen).toEqual([
      ["ADDED", "1"],
      ["MODIFIED", "2"],
      ["DELETED", "2"],
    ]);
  });

  it("streams the current objects, then a bookmark that says so", async () => {
    await configMaps.create(configMap("there"));
    const events: WatchEvent<ConfigMapObject>[] = [];
    const options = {
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      fieldSelector: "metadata.name=there",
    } as const;
    for await (const event of configMaps.watch(options)) {
      events.push(event);
      if (event.type === "BOOKMARK") break;
    }
    expect(
      events.map((event) => (event.type === "BOOKMARK" ? event.initialEventsEnd : event.object.metadata.name)),
    ).toEqual(["there", true]);
  });

  it("an aborted watch ends quietly, a watch of the server's choosing by itself", async () => {
    const abort = new AbortController();
    const aborted = (async () => {
      for await (const event of configMaps.watch({ signal: abort.signal })) if (event.type === "ADDED") abort.abort();
    })();
    await configMaps.create(configMap("end"));
    await aborted;
    const { metadata } = await configMaps.list();
    for await (const _ of configMaps.watch({ resourceVersion: metadata.resourceVersion, timeoutSeconds: 1 }))
      expect.unreachable();
  });

  it("a call that is aborted rejects with the reason", async () => {
    const reason = new Error("changed my mind");
    await expect(configMaps.get("x", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it("reads and writes a status", async () => {
    const namespaces = client.of(Namespace);
    const found = await namespaces.get(namespace);
    const conditions = [
      { type: "Tested", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z", reason: "Test", message: "" },
    ];
    const updated = await namespaces.updateStatus({ ...found, status: { phase: "Active", conditions } });
    expect(updated.status?.conditions).toMatchObject([{ type: "Tested" }]);
    expect(await namespaces.subresource(namespace, "status").get()).toEqual(updated);
  });

  it("speaks of resources that it has no kind for", async () => {
    const named: ResourceName = { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", namespaced: true };
    const list = await client.of<KubeObject>(named).list();
    expect(list.items).toEqual([]);
    const nowhere = { ...named, apiVersion: "nowhere.example/v1" };
    await expect(client.of<KubeObject>(nowhere).list()).rejects.toMatchObject({ code: 404 });
  });

  it("asks paths that are not about resources", async () => {
    expect(await client.text("/readyz")).toBe("ok");
  });
});

it("errors are StatusError, told apart by reason", async () => {
  const client = new Client({ transport: inProcess(api.server.handle, { name: "nobody", groups: [] }), clock });
  const refused = await client
    .of(ConfigMap as Kind<ConfigMapObject>)
    .list()
    .catch((error: unknown) => error);
  expect(isStatusError(refused, "Forbidden")).toBe(true);
});
