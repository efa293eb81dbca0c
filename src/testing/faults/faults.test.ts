import { describe, expect, it } from "vitest";
import { type apps, kinds } from "#api";
import { startCluster, type TestCluster } from "../cluster/cluster.ts";
import { COMPONENTS } from "./faults.ts";

const deployments = ({ client }: TestCluster) => client.of(kinds.Deployment).in("default");
const pods = async ({ client }: TestCluster) => (await client.of(kinds.Pod).in("default").list()).items;

function deployment(name: string, replicas: number): apps.Deployment {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "app", image: "app:1" }] } };
  return { metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } };
}

/** A rollout, an update and a deletion; true if all of it comes to its end with exactly the Pods that it needs. */
async function story(cluster: TestCluster): Promise<void> {
  await deployments(cluster).create(deployment("web", 3));
  const ready = async () => (await deployments(cluster).get("web")).status?.readyReplicas === 3;
  await cluster.eventually(ready, { what: "three ready replicas", within: "15m" });
  await cluster.clock.advance("1m");
  expect(await pods(cluster)).toHaveLength(3);
  await deployments(cluster).delete("web");
  await cluster.eventually(async () => (await pods(cluster)).length === 0, { what: "the end", within: "15m" });
}

describe("faults", () => {
  const cases: { readonly name: string; readonly meddle: (cluster: TestCluster) => void }[] = [
    { name: "conflicts", meddle: ({ faults }) => faults.refuse(409, { method: "PUT", chance: 0.3 }) },
    { name: "throttled requests", meddle: ({ faults }) => faults.refuse(429, { chance: 0.2 }) },
    { name: "errors of the server", meddle: ({ faults }) => faults.refuse(500, { chance: 0.2 }) },
    { name: "lost answers", meddle: ({ faults }) => faults.loseAnswers({ method: "POST", chance: 0.3 }) },
    { name: "a slow store", meddle: ({ faults }) => faults.slow(2_000, { chance: 0.3 }) },
    { name: "late watches", meddle: ({ faults }) => faults.watches({ lateMs: 3_000, repeats: 0.1, breaks: 0.05 }) },
  ];
  it.each(cases)("do not keep a cluster from its goal: $name", async ({ meddle }) => {
    await using cluster = await startCluster();
    meddle(cluster);
    await story(cluster);
  });

  it.each(COMPONENTS.slice(0, 3))("%s dies at any of its writes", async (component) => {
    await using cluster = await startCluster();
    for (const death of ["before it reaches the server", "before it is answered"] as const)
      for (let after = 0; after < 4; after++) {
        await using fork = await cluster.fork();
        fork.faults.kill(component, { after, death });
        await story(fork);
      }
  });

  it("a component without a connection does nothing, and goes on when it has one again", async () => {
    await using cluster = await startCluster();
    cluster.faults.partition("kube-scheduler");
    await deployments(cluster).create(deployment("web", 3));
    await cluster.clock.advance("2m");
    expect((await pods(cluster)).map(({ spec }) => spec?.nodeName)).toEqual([undefined, undefined, undefined]);
    cluster.faults.heal("kube-scheduler");
    await cluster.eventually(async () => (await deployments(cluster).get("web")).status?.readyReplicas === 3);
  });

  it("a node without a connection is lost, and the others are not", async () => {
    await using cluster = await startCluster({ nodes: 2 });
    cluster.faults.partition("node-1");
    await cluster.clock.advance("2m");
    const ready = async () => {
      const { items } = await cluster.client.of(kinds.Node).list();
      return items.map(({ status }) => status?.conditions?.find(({ type }) => type === "Ready")?.status);
    };
    expect(await ready()).toEqual(["Unknown", "True"]);
    cluster.faults.heal();
    await cluster.clock.advance("1m");
    expect(await ready()).toEqual(["True", "True"]);
  });

  it("lists are of the past where a server is behind", async () => {
    await using cluster = await startCluster({ nodes: 0 });
    const jane = cluster.as({ name: "jane", groups: ["system:masters"] });
    const names = async () =>
      (await jane.of(kinds.ConfigMap).in("other").list()).items.map(({ metadata }) => metadata.name);
    await cluster.client.of(kinds.Namespace).create({ metadata: { name: "other" } });
    await cluster.clock.advance("1m");
    const before = await names();
    await cluster.client
      .of(kinds.ConfigMap)
      .in("other")
      .create({ metadata: { name: "late" } });
    await cluster.clock.advance("10s");
    cluster.faults.staleLists(30_000, { of: "jane" });
    expect(await names()).toEqual(before);
    expect((await jane.of(kinds.ConfigMap).in("other").get("late")).metadata.name).toBe("late");
    await cluster.clock.advance("30s");
    expect(await names()).toEqual([...before, "late"]);
  });

  it("are seen by the one that they concern, as often as asked for", async () => {
    await using cluster = await startCluster({ nodes: 0 });
    const jane = cluster.as({ name: "jane", groups: ["system:masters"] });
    cluster.faults.refuse(503, { of: "jane", path: "/configmaps", times: 1 });
    const configMaps = jane.of(kinds.ConfigMap).in("default");
    await expect(configMaps.create({ metadata: { name: "a" } })).rejects.toMatchObject({ code: 503 });
    await configMaps.create({ metadata: { name: "a" } });
    cluster.faults.loseAnswers({ of: "jane", method: "DELETE" });
    await expect(configMaps.delete("a")).rejects.toThrow("the connection broke before the answer arrived");
    await expect(configMaps.get("a")).rejects.toMatchObject({ reason: "NotFound" });
    expect((await cluster.client.of(kinds.ConfigMap).in("default").list()).items.length).toBeGreaterThan(0);
  });

  it("end watches, and make their clients list again", async () => {
    await using cluster = await startCluster();
    await story(cluster);
    const from = cluster.records.seq;
    const opened = (by: string) =>
      cluster.records
        .records()
        .filter((record) => record.type === "request" && record.verb === "watch" && record.seq > from)
        .filter((record) => record.type === "request" && record.user === by).length;
    cluster.faults.closeWatches();
    await cluster.clock.advance("10s");
    expect(opened("system:kube-scheduler")).toBeGreaterThan(0);
    cluster.faults.expireWatches("kube-scheduler");
    await story(cluster);
  });

  it("are the same for the same seed", async () => {
    const runs = await Promise.all(
      [7, 7, 8].map(async (faultSeed) => {
        await using cluster = await startCluster({ faultSeed });
        cluster.faults.refuse(500, { chance: 0.2 });
        await story(cluster);
        return cluster.clock.now();
      }),
    );
    expect(runs[0]).toBe(runs[1]);
    expect(runs[2]).not.toBe(runs[0]);
  });
});
