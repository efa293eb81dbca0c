/** A server of three threads, over HTTPS: they are one to clients, and one that dies takes nothing with it. */
import { mkdtemp, rm } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defaultFeatures } from "#api";
import { MetricsRegistry, realClock, silentLogger, systemRandom } from "#base";
import { ensureClusterPki } from "#pki";
import { openMemoryStore } from "#store";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { servingPki } from "../config/serving-pki.ts";
import { type ClusterApiServer, type ServerOfCluster, startClusterApiServer } from "../in-process/api-server.ts";
import { type ServerThreads, serverThreads } from "./server-threads.ts";

const THREADS = 3;
/** Each opens a connection of its own: the kernel spreads them over the threads. */
const CONNECTIONS = 24;
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

let dir: string;
let stack: AsyncDisposableStack;
let threads: ServerThreads;
let api: ClusterApiServer;
let identity: { readonly ca: string; readonly cert: string; readonly key: string };

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "k8ts-threads-"));
  stack = new AsyncDisposableStack();
  const [clock, random, log] = [realClock(), systemRandom(), silentLogger];
  const serverNames = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
  const pki = await ensureClusterPki(join(dir, "pki"), { clock, serverNames });
  const config: ClusterConfig = {
    dataDir: dir,
    bindAddress: "127.0.0.1",
    port: 0,
    store: { kind: "memory" },
    mergeInto: join(dir, "kubeconfig"),
  };
  const made = serverThreads({
    count: THREADS,
    store: openMemoryStore({ clock }),
    isShared: false,
    clock,
    random,
    log,
  });
  threads = made ?? expect.unreachable();
  stack.defer(() => threads.store.close());
  const podSecurityLevel = undefined;
  const machineIp = undefined;
  api = await startClusterApiServer(
    {
      ...{ config, pki, store: threads.store, ports: [0], flowRecordsFile: "", features: defaultFeatures },
      ...{ machineIp, extensions: new Map(), simulatedMetrics: () => undefined, threads: threads.share },
      ...{ metrics: new MetricsRegistry(), clock, random, log },
    },
    stack,
  );
  const own = { config, pki: servingPki(pki), machineIp, podSecurityLevel };
  await threads.start({ kind: "cluster", ...own, extensions: [] } satisfies ServerOfCluster, api);
  const { certPem, keyPem } = pki.admin;
  identity = { ca: pki.ca.certPem, cert: certPem, key: keyPem };
  expect(threads.serving).toBe(THREADS - 1);
}, 90_000);

afterAll(async () => {
  await stack.disposeAsync();
  await rm(dir, { recursive: true, force: true });
});

/** On a connection of its own. */
async function call(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const headers = { "content-type": "application/json" };
  const request = httpsRequest(api.url + path, { method, ...identity, headers, agent: false }, async (response) => {
    try {
      const chunks = await response.toArray();
      resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
    } catch (error) {
      reject(error);
    }
  });
  request.on("error", reject);
  request.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

const create = (name: string) => call("POST", CONFIG_MAPS, { metadata: { name } });

/** How many requests each of the other threads has answered. */
async function answered(): Promise<number> {
  const { text } = await call("GET", "/metrics");
  const lines = text.split("\n").filter((line) => /^apiserver_request_total\{.*verb="POST"/.test(line));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

describe("a server of three threads", () => {
  it("shows what was written on one connection to every other, at once", async () => {
    const before = await answered();
    for (let i = 0; i < CONNECTIONS; i++) {
      expect((await create(`x${i}`)).status).toBe(201);
      const reads = await Promise.all([call("GET", `${CONFIG_MAPS}/x${i}`), call("GET", CONFIG_MAPS)]);
      expect(reads.map(({ status }) => status)).toEqual([200, 200]);
      expect(JSON.parse(reads[1]?.text ?? "").items).toHaveLength(i + 1);
    }
    // Whichever thread is asked, its metrics are those of all.
    expect((await answered()) - before).toBe(CONNECTIONS);
    expect((await create("x0")).status).toBe(409);
  });

  it("lets one of many win, wherever they are connected", async () => {
    const outcomes = await Promise.all(Array.from({ length: CONNECTIONS }, () => create("contended")));
    expect(outcomes.map(({ status }) => status).sort()).toEqual([201, ...Array(CONNECTIONS - 1).fill(409)]);
  });

  it("shows a permission to every connection as soon as it was given", async () => {
    const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    const review = { kind: "LocalSubjectAccessReview", apiVersion: "authorization.k8s.io/v1", metadata: {} };
    const resourceAttributes = { namespace: "default", verb: "get", resource: "pods" };
    const spec = { user: "jane", resourceAttributes };
    const may = async () => {
      const path = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews";
      const { text } = await call("POST", path, { ...review, metadata: { namespace: "default" }, spec });
      return JSON.parse(text).status.allowed;
    };
    const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }];
    await call("POST", `${rbac}/roles`, { metadata: { name: "reader" }, rules });
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" };
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }];
    for (let i = 0; i < 6; i++) {
      expect(await may()).toBe(false);
      expect(
        (await call("POST", `${rbac}/rolebindings`, { metadata: { name: "jane" }, roleRef, subjects })).status,
      ).toBe(201);
      expect(await Promise.all([may(), may(), may()])).toEqual([true, true, true]);
      expect((await call("DELETE", `${rbac}/rolebindings/jane`)).status).toBe(200);
    }
  });

  it("records flows of all threads in one place", async () => {
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, i) => create(`flow${i}`)));
    const recorded = async () => {
      const { text } = await call("GET", "/k8ts/flows");
      return new Set(text.split("\n").flatMap((line) => line.match(/"name":"(flow\d+)"/)?.[1] ?? [])).size;
    };
    await expect.poll(recorded, { timeout: 10_000 }).toBe(CONNECTIONS);
  });

  it("goes on when a thread dies: nothing acknowledged is lost, and another takes its place", async () => {
    const acknowledged: string[] = [];
    let ended = false;
    let failures = 0;
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let i = 0; !ended; i++) {
        const name = `w${writer}-${i}`;
        try {
          if ((await create(name)).status === 201) acknowledged.push(name);
        } catch {
          // Its connection was one of the thread that died.
          failures++;
        }
      }
    });
    await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(20);
    await threads.terminateOne();
    await expect.poll(() => threads.serving, { timeout: 60_000 }).toBe(THREADS - 1);
    ended = true;
    await Promise.all(writers);
    const { text } = await call("GET", CONFIG_MAPS);
    const found = new Set(JSON.parse(text).items.map(({ metadata }: { metadata: { name: string } }) => metadata.name));
    expect(acknowledged.filter((name) => !found.has(name))).toEqual([]);
    expect(failures).toBeLessThan(acknowledged.length / 2);
  }, 120_000);
});
