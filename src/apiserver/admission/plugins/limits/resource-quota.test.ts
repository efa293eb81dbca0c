import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { VirtualClock } from "#base";
import { openMemoryStore } from "#store";
import { configMap, namespace, type TestServer, type TestServerOptions, testServer } from "../../../testing/index.ts";
import { admitting, claimObject } from "../../testing/index.ts";

const NS = "/api/v1/namespaces/a";
const Q = `${NS}/resourcequotas/q`;

let close: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of close.reverse()) await each();
  close = [];
});

async function started(options: TestServerOptions = {}, configuration?: JsonObject): Promise<TestServer> {
  const sections = configuration && { configuration: new Map([["ResourceQuota", configuration]]) };
  const server = await testServer({ admission: admitting({ ...sections }), ...options });
  close.push(() => server.close());
  return server;
}

/** A quota with its use counted, as the controller leaves it. */
async function withQuota(
  server: TestServer,
  hard: Record<string, string>,
  used: Record<string, string> = {},
  spec: object = {},
) {
  await server.request("POST", "/api/v1/namespaces", { body: namespace("a") });
  const quota = { metadata: { name: "q" }, spec: { hard, ...spec } };
  const { json } = await server.request("POST", `${NS}/resourcequotas`, { body: quota });
  const zero = Object.fromEntries(Object.keys(hard).map((name) => [name, "0"]));
  const status = { hard, used: { ...zero, ...used } };
  await server.request("PUT", `${Q}/status`, { body: { ...json, status } });
}

const usedOf = async (server: TestServer) =>
  ((await server.request("GET", Q)).json as { status?: { used?: object } }).status?.used;
const create = (server: TestServer, name: string, query = "") =>
  server.request("POST", `${NS}/configmaps${query}`, { body: configMap(name) });
const codes = (answers: readonly { status: number }[]) => {
  const count = (code: number) => answers.filter(({ status }) => status === code).length;
  return { created: count(201), refused: count(403), others: answers.length - count(201) - count(403) };
};

describe("ResourceQuota", () => {
  it("admits exactly as many of a thousand writes at once as it has room for", async () => {
    const server = await started();
    await withQuota(server, { "count/configmaps": "100" });
    const before = await server.store.revision();
    const answers = await Promise.all(Array.from({ length: 1_000 }, (_, i) => create(server, `c${i}`)));
    expect(codes(answers)).toEqual({ created: 100, refused: 900, others: 0 });
    expect(await usedOf(server)).toEqual({ "count/configmaps": "100" });
    // Many writes share one update of their quota.
    expect((await server.store.revision()) - before - 100).toBeLessThan(20);
  });

  it("holds across servers: who loses the race for a quota looks again", async () => {
    const clock = new VirtualClock();
    const store = openMemoryStore({ clock });
    close.push(() => store.close());
    const servers = [await started({ store, clock, seed: 1 }), await started({ store, clock, seed: 2 })];
    const [one, two] = servers as [TestServer, TestServer];
    await withQuota(one, { "count/configmaps": "30" });
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => create(i % 2 === 0 ? one : two, `c${i}`)));
    expect(codes(answers)).toEqual({ created: 30, refused: 170, others: 0 });
    expect(await usedOf(two)).toEqual({ "count/configmaps": "30" });
  });

  it("tells what was asked for, used and allowed", async () => {
    const server = await started();
    await withQuota(server, { "count/configmaps": "1", configmaps: "5" }, { "count/configmaps": "1" });
    expect(await create(server, "x")).toMatchObject({
      status: 403,
      json: {
        message:
          'configmaps "x" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1',
      },
    });
    expect(await usedOf(server)).toEqual({ "count/configmaps": "1", configmaps: "0" });
  });

  it("charges nothing for a dry run, and gives nothing back for a deletion", async () => {
    const server = await started();
    await withQuota(server, { "count/configmaps": "1" });
    expect((await create(server, "x", "?dryRun=All")).status).toBe(201);
    expect(await usedOf(server)).toEqual({ "count/configmaps": "0" });
    await create(server, "x");
    await server.request("DELETE", `${NS}/configmaps/x`);
    expect(await usedOf(server)).toEqual({ "count/configmaps": "1" });
    expect((await create(server, "x", "?dryRun=All")).status).toBe(403);
  });

  it("refuses what a quota measures whose use nobody has counted yet", async () => {
    const server = await started();
    await server.request("POST", "/api/v1/namespaces", { body: namespace("a") });
    const hard = { "count/configmaps": "1" };
    const { json } = await server.request("POST", `${NS}/resourcequotas`, {
      body: { metadata: { name: "q" }, spec: { hard } },
    });
    expect((await create(server, "early")).status).toBe(201);
    await server.request("PUT", `${Q}/status`, { body: { ...json, status: { hard } } });
    expect((await create(server, "x")).json.message).toContain(
      "status unknown for quota: q, resources: count/configmaps",
    );
  });

  it("charges a claim that grows for what it grows", async () => {
    const server = await started();
    await withQuota(server, { "requests.storage": "3Gi" });
    const growing = { metadata: { name: "grows" }, provisioner: "x", allowVolumeExpansion: true };
    await server.request("POST", "/apis/storage.k8s.io/v1/storageclasses", { body: growing });
    const path = `${NS}/persistentvolumeclaims`;
    const claim = claimObject({
      storageClassName: "grows",
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
    });
    const { json } = await server.request("POST", path, { body: claim });
    const bound = { ...json, status: { ...(json.status as object), phase: "Bound" } };
    await server.request("PUT", `${path}/claim/status`, { body: bound });
    const grow = (storage: string) =>
      server.request("PATCH", `${path}/claim`, {
        body: { spec: { resources: { requests: { storage } } } },
        headers: { "content-type": "application/merge-patch+json" },
      });
    expect(await usedOf(server)).toEqual({ "requests.storage": "1Gi" });
    expect((await grow("3Gi")).status).toBe(200);
    expect(await usedOf(server)).toEqual({ "requests.storage": "3Gi" });
    expect((await grow("4Gi")).json.message).toContain("exceeded quota: q, requested: requests.storage=1Gi");
  });

  it("leaves other namespaces alone, and what only some scope counts", async () => {
    const server = await started();
    await withQuota(server, { pods: "0" }, {}, { scopes: ["BestEffort"] });
    await server.request("POST", "/api/v1/namespaces", { body: namespace("b") });
    const pod = (requests: object) => ({
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "x", resources: { requests } }] },
    });
    const send = async (where: string, requests: object) =>
      (await server.request("POST", `/api/v1/namespaces/${where}/pods`, { body: pod(requests) })).status;
    expect([await send("a", {}), await send("b", {}), await send("a", { cpu: "1" })]).toEqual([403, 201, 201]);
  });

  it("lets what is limited in only where a quota covers it", async () => {
    const server = await started(
      {},
      { limitedResources: [{ resource: "configmaps", matchContains: ["count/configmaps"] }] },
    );
    await server.request("POST", "/api/v1/namespaces", { body: namespace("a") });
    expect((await create(server, "x")).json.message).toContain("insufficient quota to consume: count/configmaps");
    await withQuota(server, { "count/configmaps": "1" });
    expect((await create(server, "x")).status).toBe(201);
  });

  it("writes the use as the server's own, beside the owners of the rest", async () => {
    const server = await started();
    await withQuota(server, { "count/configmaps": "9" });
    await create(server, "x");
    const { metadata } = await server.request("GET", Q);
    expect(metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: "kube-apiserver", operation: "Update", subresource: "status" }),
    );
  });
});
