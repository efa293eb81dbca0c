import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { testServer } from "../../apiserver/testing/index.ts";
import { type Handle, lateWatches } from "../../testing/faults/faulty-handle.ts";
import { reportPods, testControllers } from "../testing/index.ts";
import { resourceQuotaController } from "./index.ts";

/** As often as everything is counted anew. */
const RECOUNT_MS = 301_000;

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function cluster(hard: Record<string, string>, scopes: readonly "BestEffort"[] = []) {
  const running = await testControllers([resourceQuotaController]);
  open.push(() => running.close());
  const { client, settle } = running;
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  await client
    .of(kinds.ResourceQuota)
    .create({ metadata: { name: "q", namespace: "default" }, spec: { hard, scopes } });
  await settle();
  const status = async () => (await client.of(kinds.ResourceQuota).in("default").get("q")).status;
  return { ...running, status };
}

const pod = (name: string, cpu?: string): core.Pod => ({
  metadata: { name, namespace: "default" },
  spec: { containers: [{ name: "c", image: "i", ...(cpu && { resources: { requests: { cpu } } }) }] },
});

describe("the use of a quota", () => {
  it("is known as soon as the quota is there", async () => {
    const { status } = await cluster({ pods: "5", "requests.cpu": "2", configmaps: "3" });
    expect(await status()).toEqual({
      hard: { pods: "5", "requests.cpu": "2", configmaps: "3" },
      used: { configmaps: "0", pods: "0", "requests.cpu": "0" },
    });
  });

  it("follows what goes at once, and finds what nobody has charged when it counts anew", async () => {
    const { client, settle, clock, status } = await cluster({ pods: "5", "requests.cpu": "2", configmaps: "3" });
    await client.of(kinds.Pod).create(pod("a", "500m"));
    await client.of(kinds.Pod).create(pod("b", "250m"));
    await client.of(kinds.ConfigMap).create({ metadata: { name: "c", namespace: "default" } });
    await clock.advance(RECOUNT_MS);
    expect((await status())?.used).toEqual({ configmaps: "1", pods: "2", "requests.cpu": "750m" });
    await client.of(kinds.Pod).in("default").delete("a", { gracePeriodSeconds: 0 });
    await settle();
    expect((await status())?.used).toEqual({ configmaps: "1", pods: "1", "requests.cpu": "250m" });
  });

  it("keeps what was charged for Pods that the caches do not show yet", async () => {
    const LATE_MS = 3_000;
    const server = await testServer();
    const handle = lateWatches(server.handle as Handle, { clock: server.clock, path: "/pods", ms: () => LATE_MS });
    const running = await testControllers([resourceQuotaController], {
      server: { ...server, handle: handle as never },
    });
    open.push(
      () => server.close(),
      () => running.close(),
    );
    const { client, clock, settle } = running;
    const quotas = client.of(kinds.ResourceQuota).in("default");
    await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
    await quotas.create({ metadata: { name: "q" }, spec: { hard: { pods: "3" } } });
    await clock.advance(3 * LATE_MS);
    // As admission does it: the charge, then the Pod.
    const charge = { status: { hard: { pods: "3" }, used: { pods: "1" } } };
    await quotas.subresource("q", "status").patch({ type: "merge", object: charge });
    await client.of(kinds.Pod).create(pod("a"));
    await quotas.patch("q", { type: "merge", object: { spec: { hard: { pods: "4" } } } });
    const used = async () => (await quotas.get("q")).status?.used;
    await settle();
    expect(await used()).toEqual({ pods: "1" });
    await clock.advance(3 * LATE_MS);
    expect(await used()).toEqual({ pods: "1" });
    expect((await quotas.get("q")).status?.hard).toEqual({ pods: "4" });
  });

  it("leaves out Pods that have ended", async () => {
    const { client, settle, clock, status } = await cluster({ pods: "5" });
    await client.of(kinds.Pod).create(pod("a"));
    await settle();
    await reportPods(client, clock.now(), { phase: "Succeeded" });
    await settle();
    expect((await status())?.used).toEqual({ pods: "0" });
  });

  it("counts objects of any resource", async () => {
    const { client, clock, status } = await cluster({
      "count/deployments.apps": "2",
      "count/nonsense.example.com": "1",
    });
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    const spec = { selector: { matchLabels: { a: "b" } }, template };
    await client.of(kinds.Deployment).create({ metadata: { name: "d", namespace: "default" }, spec });
    await clock.advance(RECOUNT_MS);
    expect((await status())?.used).toEqual({ "count/deployments.apps": "1" });
  });

  it("counts only what its scopes say", async () => {
    const { client, clock, status } = await cluster({ pods: "5" }, ["BestEffort"]);
    await client.of(kinds.Pod).create(pod("asks", "1"));
    await client.of(kinds.Pod).create(pod("asks-not"));
    await clock.advance(RECOUNT_MS);
    expect((await status())?.used).toEqual({ pods: "1" });
  });

  it("stays as admission has charged it, also before what it was charged for is there", async () => {
    const { client, settle, clock, status } = await cluster({ pods: "5" });
    const quotas = client.of(kinds.ResourceQuota).in("default");
    const charged = async (pods: string) =>
      quotas.updateStatus({ ...(await quotas.get("q")), status: { hard: { pods: "5" }, used: { pods } } });
    await charged("1");
    await settle();
    expect((await status())?.used).toEqual({ pods: "1" });
    await charged("2");
    await client.of(kinds.Pod).create(pod("a"));
    await settle();
    expect((await status())?.used).toEqual({ pods: "2" });
    await clock.advance(RECOUNT_MS);
    expect((await status())?.used).toEqual({ pods: "1" });
  });

  it("is right soon after a count that came between a charge and its object", async () => {
    const { client, settle, clock, status } = await cluster({ pods: "1" });
    const quotas = client.of(kinds.ResourceQuota).in("default");
    // What such a count leaves: the Pod was charged, and forgotten again.
    await client.of(kinds.Pod).create(pod("a"));
    await settle();
    await quotas.updateStatus({ ...(await quotas.get("q")), status: { hard: { pods: "1" }, used: { pods: "0" } } });
    await clock.advance(2_000);
    expect((await status())?.used).toEqual({ pods: "1" });
  });

  it("is written only when it changes", async () => {
    const { client, settle, clock, writes } = await cluster({ pods: "5" });
    await client.of(kinds.Pod).create(pod("a"));
    await settle();
    await clock.advance(RECOUNT_MS);
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });
});
