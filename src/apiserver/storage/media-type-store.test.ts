import { afterEach, describe, expect, it } from "vitest";
import { apiVersionOf, builtIn, isEnvelope, type Kind } from "#api";
import { VirtualClock } from "#base";
import { type MemoryStore, openMemoryStore } from "#store";
import { makeRequest } from "../../pki/testing/request.ts";
import { unreadable } from "../cache/stored-object.ts";
import { configMap, type TestServer, testServer } from "../testing/index.ts";
import { samples } from "../testing/samples.ts";
import { mediaTypeStore } from "./media-type-store.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const JSON_TYPE = "application/json";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const KEY = "/registry/core/configmaps/default/x";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serverOver(inner: MemoryStore, mediaType: typeof PROTOBUF | typeof JSON_TYPE): Promise<TestServer> {
  const store = mediaTypeStore(inner, mediaType, builtIn);
  const server = await testServer({ store, isOutdated: (key) => store.isOutdated(key) });
  servers.push(server);
  return server;
}

describe("media types of stored values", () => {
  const objects = samples({ certificateRequestPem: makeRequest({ commonName: "jane" }).pem });
  const stored = builtIn.filter(({ verbs }) => verbs.includes("create") && verbs.includes("get"));
  const named = (kind: Kind) => [`${apiVersionOf(kind)} ${kind.kind}`, kind] as const;

  it.each(stored.map(named))("%s is stored as protobuf, and read as it was written", async (name, kind) => {
    const json = openMemoryStore({ clock: new VirtualClock() });
    const server = await serverOver(json, JSON_TYPE);
    const root = kind.group === "" ? "/api/v1" : `/apis/${apiVersionOf(kind)}`;
    const path = `${root}${kind.scope === "Namespaced" ? "/namespaces/default" : ""}/${kind.names.plural}`;
    const body = {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { name: "sample" },
      ...objects.get(name),
    };
    const { status, json: answer } = await server.request("POST", path, { body });
    expect({ status, message: answer.message }).toEqual({ status: 201, message: undefined });
    const inner = openMemoryStore({ clock: new VirtualClock() });
    const store = mediaTypeStore(inner, PROTOBUF, builtIn);
    for (const { key, value } of (await json.list("")).entries) {
      await store.create(key, value);
      expect(isEnvelope((await inner.get(key))?.value ?? Buffer.alloc(0))).toBe(true);
      const read = JSON.parse((await store.get(key))?.value.toString() ?? "");
      const before = JSON.parse(value.toString());
      // It is kept as autoscaling/v2, with the zero values of v1 until it is read from protobuf.
      if (name === "autoscaling/v1 HorizontalPodAutoscaler") delete before.status.currentReplicas;
      expect(read).toMatchObject(before);
      expect(store.isOutdated(key)).toBe(false);
    }
  });

  it("can be changed: both are read, and an update without changes writes the new one", async () => {
    const inner = openMemoryStore({ clock: new VirtualClock() });
    const first = await serverOver(inner, PROTOBUF);
    const created = await first.request("POST", CONFIG_MAPS, { body: configMap("x", { a: "1" }) });
    expect(isEnvelope((await inner.get(KEY))?.value ?? Buffer.alloc(0))).toBe(true);
    const second = await serverOver(inner, JSON_TYPE);
    const read = await second.request("GET", `${CONFIG_MAPS}/x`);
    expect(read.json).toEqual(created.json);
    expect((await second.request("PUT", `${CONFIG_MAPS}/x`, { body: read.json })).status).toBe(200);
    expect((await inner.get(KEY))?.value.toString()).toContain('{"kind":"ConfigMap","apiVersion":"v1"');
    const third = await serverOver(inner, PROTOBUF);
    const { json } = await third.request("GET", `${CONFIG_MAPS}/x`);
    await third.request("PUT", `${CONFIG_MAPS}/x`, { body: json });
    expect(isEnvelope((await inner.get(KEY))?.value ?? Buffer.alloc(0))).toBe(true);
    const again = await third.request("PUT", `${CONFIG_MAPS}/x`, {
      body: (await third.request("GET", `${CONFIG_MAPS}/x`)).json,
    });
    expect(again.metadata.resourceVersion).toBe(String(await inner.revision()));
  });

  it("of what is no built-in object is JSON", async () => {
    const inner = openMemoryStore({ clock: new VirtualClock() });
    const store = mediaTypeStore(inner, PROTOBUF, builtIn);
    const values = [
      '{"namespace":"default","name":"web"}',
      '{"kind":"Foo","apiVersion":"example.com/v1","metadata":{}}',
    ];
    for (const [i, value] of values.entries()) await store.create(`/registry/${i}`, Buffer.from(value));
    expect((await inner.list("")).entries.map(({ value }) => value.toString())).toEqual(values);
    expect([store.isOutdated("/registry/0"), store.isOutdated("/registry/1")]).toEqual([false, false]);
  });

  it("that cannot be decoded say why, and stop nothing else", async () => {
    const inner = openMemoryStore({ clock: new VirtualClock() });
    await inner.create(KEY, Buffer.from("k8s\0\xff\xff", "latin1"));
    const store = mediaTypeStore(inner, JSON_TYPE, builtIn);
    const { value } = (await store.get(KEY)) ?? expect.unreachable();
    expect(value.subarray(0, 1)).toEqual(unreadable("").subarray(0, 1));
    expect(value.toString()).toContain(`unable to decode key "${KEY}"`);
  });
});
