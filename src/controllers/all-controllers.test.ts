/** All controllers side by side: each within its own role, and all of them at rest when there is nothing to do. */
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, parseFeatures, parseRuntimeConfig, servedKinds } from "#api";
import { createLogger, VirtualClock } from "#base";
import { createAuthority } from "#pki";
import { allControllers } from "./all-controllers.ts";
import { scriptedNodes, type TestControllersOptions, testControllers } from "./testing/index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const MINUTE = 60_000;
const NO_SIGNER = {
  read: () => {
    throw new Error("there is nothing to read here");
  },
  sign: () => "",
};

const authority = await createAuthority({ commonName: "ca", clock: new VirtualClock() });

async function cluster(options: TestControllersOptions = {}) {
  const clock = new VirtualClock();
  const complaints: string[] = [];
  const write = (line: string) => complaints.push(line);
  const log = createLogger({ write, format: "json", level: "warn", clock });
  const controllers = allControllers({ caPem: authority.certPem, signer: NO_SIGNER });
  const running = await testControllers(controllers, { clock, log, ...options });
  open.push(() => running.close());
  const { client } = running;
  for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"])
    await client.of(kinds.Namespace).create({ metadata: { name } });
  const nodes = scriptedNodes(client, clock);
  for (const name of ["a", "b", "c"]) await nodes.add(name, { "kubernetes.io/os": "linux" });
  return { ...running, nodes, complaints };
}

const template: core.PodTemplateSpec = {
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "c", image: "i" }] },
};

describe("all controllers together", () => {
  it("have names of their own", () => {
    const names = allControllers({ caPem: "", signer: NO_SIGNER }).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it("stay within their roles, through a rollout, a failure of a node and its return", async () => {
    const { client, nodes, complaints } = await cluster();
    const deployments = client.of(kinds.Deployment).in("default");
    const spec = { replicas: 4, selector: { matchLabels: { app: "web" } }, template };
    await deployments.create({ metadata: { name: "web" }, spec });
    await client.of(kinds.ServiceCIDR).create({ metadata: { name: "more" }, spec: { cidrs: ["10.99.0.0/16"] } });
    await nodes.live(2 * MINUTE);
    nodes.stop("a");
    await nodes.live(10 * MINUTE);
    expect((await deployments.get("web")).status?.readyReplicas).toBe(4);
    nodes.start("a");
    await nodes.live(5 * MINUTE);
    await client.of(kinds.ServiceCIDR).delete("more");
    await deployments.delete("web");
    await nodes.live(2 * MINUTE);
    expect((await client.of(kinds.Pod).list()).items).toEqual([]);
    expect((await client.of(kinds.ServiceCIDR).list()).items).toEqual([]);
    expect((await client.of(kinds.Node).get("a")).spec).toMatchObject({ podCIDR: expect.stringMatching(/^10\.244\./) });
    expect(complaints.filter((line) => line.includes("Forbidden"))).toEqual([]);
  });

  const gates = ["ClusterTrustBundle", "PodCertificateRequest", "StorageVersionAPI", "StorageVersionMigrator"];
  const features = parseFeatures({ gates: gates.map((gate) => `${gate}=true`).join(",") });
  const runtimeConfig = parseRuntimeConfig("api/all=true");
  const gated = { features, kinds: servedKinds({ runtimeConfig, enabled: features.enabled }) };

  it.each<{ name: string; options?: TestControllersOptions }>([
    { name: "those of v1.36" },
    { name: "also those behind feature gates", options: gated },
  ])("write nothing for an hour in which nothing happens: $name", async ({ options }) => {
    const { client, nodes, writes, requests, complaints } = await cluster(options);
    const spec = { replicas: 2, selector: { matchLabels: { app: "web" } }, template };
    await client
      .of(kinds.Deployment)
      .in("default")
      .create({ metadata: { name: "web" }, spec });
    await nodes.live(5 * MINUTE);
    const before = writes();
    await nodes.live(60 * MINUTE);
    const late = requests().filter(({ method }) => method !== "GET");
    expect(late.slice(before).map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    expect(complaints.filter((line) => line.includes("Forbidden") || line.includes("does not run"))).toEqual([]);
  });
});
