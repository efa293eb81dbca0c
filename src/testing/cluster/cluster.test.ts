import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type apps, type batch, type core, type KubeObject, kinds, namespaced } from "#api";
import { realClock } from "#base";
import { Client, https } from "#client";
import { readKubeconfig } from "#pki";
import { startCluster, type TestCluster } from "./cluster.ts";
import type { ClusterOptions } from "./options.ts";

const clusters: TestCluster[] = [];
afterEach(async () => {
  for (const cluster of clusters.splice(0)) await cluster.stop();
});

async function started(options?: ClusterOptions): Promise<TestCluster> {
  const cluster = await startCluster(options);
  clusters.push(cluster);
  return cluster;
}

function deployment(name: string, replicas: number, image = "app:1"): apps.Deployment {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "app", image }] } };
  return {
    metadata: { name, namespace: "default" },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

const deployments = ({ client }: TestCluster) => client.of(kinds.Deployment).in("default");
const pods = async ({ client }: TestCluster) => (await client.of(kinds.Pod).in("default").list()).items;
const isReady = async (cluster: TestCluster, name: string) => {
  const { spec, status } = await deployments(cluster).get(name);
  return status?.readyReplicas === spec?.replicas || undefined;
};

describe("a cluster in a test", () => {
  it("runs controllers, scheduler and nodes, and collects what is deleted", async () => {
    const cluster = await started({ nodes: 2 });
    await deployments(cluster).create(deployment("web", 3));
    await cluster.eventually(() => isReady(cluster, "web"));
    expect(new Set((await pods(cluster)).map(({ spec }) => spec?.nodeName))).toEqual(new Set(["node-1", "node-2"]));
    await deployments(cluster).delete("web");
    await cluster.eventually(async () => (await pods(cluster)).length === 0);
  });

  it("removes a namespace with everything in it", async () => {
    const cluster = await started();
    await cluster.client.of(kinds.Namespace).create({ metadata: { name: "shop" } });
    await cluster.client.of(kinds.ConfigMap).create({ metadata: { name: "a", namespace: "shop" } });
    await cluster.client.of(kinds.Namespace).delete("shop");
    const names = async () => (await cluster.client.of(kinds.Namespace).list()).items.map((each) => each.metadata.name);
    await cluster.eventually(async () => !(await names()).includes("shop"));
  });

  it("gives the same names and times each time", async () => {
    const runs = await Promise.all(
      [1, 1, 2].map(async (seed) => {
        const cluster = await started({ seed });
        await deployments(cluster).create(deployment("web", 2));
        await cluster.eventually(() => isReady(cluster, "web"));
        return (await pods(cluster)).map(({ metadata }) => `${metadata.name} ${metadata.creationTimestamp}`);
      }),
    );
    expect(runs[0]).toEqual(runs[1]);
    expect(runs[0]).not.toEqual(runs[2]);
  });

  it("moves a day in a moment: CronJobs, TTLs and leases", async () => {
    const cluster = await started();
    const { client, clock } = cluster;
    const template: core.PodTemplateSpec = {
      spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] },
    };
    const cronJob: batch.CronJob = {
      metadata: { name: "hourly", namespace: "default" },
      spec: {
        schedule: "30 * * * *",
        successfulJobsHistoryLimit: 100,
        jobTemplate: { spec: { ttlSecondsAfterFinished: 7_200, template } },
      },
    };
    await client.of(kinds.CronJob).create(cronJob);
    await clock.advance("24h");
    const jobs = (await client.of(kinds.Job).in("default").list()).items;
    // The last runs were at 22:30 and 23:30; those before have ended more than two hours ago.
    expect(jobs.map(({ status }) => status?.startTime)).toEqual(["2030-01-01T22:30:00Z", "2030-01-01T23:30:00Z"]);
    const [lease] = (await client.of(kinds.Lease).in("kube-node-lease").list()).items;
    expect(clock.now() - Date.parse(lease?.spec?.renewTime ?? "")).toBeLessThan(15_000);
  });

  it("writes nothing at rest but Leases and the heartbeats of nodes", async () => {
    const cluster = await started();
    await deployments(cluster).create(deployment("web", 2));
    await cluster.clock.advance("10m");
    const from = cluster.records.seq;
    await cluster.clock.advance("10m");
    const writes = cluster.records
      .records()
      .flatMap((record) => (record.type === "request" && record.seq > from && record.written ? [record] : []))
      .map(({ verb, resource, subresource }) => `${verb} ${resource} ${subresource}`);
    expect(new Set(writes)).toEqual(new Set(["update coordination.k8s.io/leases ", "patch nodes status"]));
    expect(writes.filter((write) => write.endsWith("status")).length).toBeLessThanOrEqual(2);
  });

  it("notices a node that fails, and moves its Pods", async () => {
    const cluster = await started({ nodes: 2 });
    await deployments(cluster).create(deployment("web", 1));
    await cluster.eventually(() => isReady(cluster, "web"));
    const [first] = await pods(cluster);
    const failed = first?.spec?.nodeName ?? "";
    cluster.stopNode(failed);
    const moved = await cluster.eventually(
      async () =>
        (await pods(cluster)).find(({ spec, status }) => spec?.nodeName !== failed && status?.phase === "Running"),
      { within: "10m" },
    );
    expect(moved.metadata.name).not.toBe(first?.metadata.name);
  });

  it("runs images by their scripts", async () => {
    const cluster = await started({
      images: { crasher: { runForMs: 5_000, exitCode: 3 }, slow: { readyDelayMs: 60_000 } },
    });
    await deployments(cluster).create(deployment("bad", 1, "registry.example/crasher:2"));
    await deployments(cluster).create(deployment("bad2", 1, "crasher:2"));
    await deployments(cluster).create(deployment("slow", 1, "slow"));
    await cluster.clock.advance("30s");
    const restarts = (await pods(cluster)).map(({ metadata, status }) => [
      metadata.labels?.app,
      status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode,
      status?.containerStatuses?.[0]?.ready,
    ]);
    expect(Object.fromEntries(restarts.map(([app, ...rest]) => [app, rest]))).toEqual({
      bad: [undefined, true],
      bad2: [3, false],
      slow: [undefined, false],
    });
    await cluster.clock.advance("31s");
    expect(await isReady(cluster, "slow")).toBe(true);
  });

  it("says what it waits for when something does not happen", async () => {
    const cluster = await started();
    const never = cluster.eventually(() => undefined, { within: "1m", what: "rain" });
    await expect(never).rejects.toThrow(
      /^rain did not happen: not within 60000 ms of the cluster's time\n {2}the next thing/,
    );
  });

  it("is one of several in a process, and leaves nothing when it stops", async () => {
    const [a, b] = await Promise.all([started(), started({ nodes: 0, controllers: [], scheduler: false })]);
    await Promise.all([a, b].map((cluster) => deployments(cluster).create(deployment("web", 1))));
    await a.eventually(() => isReady(a, "web"));
    await b.clock.advance("1h");
    expect((await deployments(b).get("web")).status?.replicas).toBeUndefined();
    await a.stop();
    await expect(deployments(a).get("web")).rejects.toThrow("closed");
  });
});

describe("what a cluster starts with", () => {
  interface Widget {
    readonly metadata: core.Pod["metadata"];
    readonly spec?: { readonly size?: number };
  }
  const Widget = namespaced<Widget>("example.com/v1", "Widget", "widgets");
  const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, singular: widget, kind: Widget }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: { spec: { type: object, properties: { size: { type: integer, default: 7 } } } }
`;
  const manifests = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: reader, namespace: default }
rules: [{ apiGroups: [example.com], resources: [widgets], verbs: [get] }]
---
apiVersion: v1
kind: List
items:
  - apiVersion: rbac.authorization.k8s.io/v1
    kind: RoleBinding
    metadata: { name: reader, namespace: default }
    roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader }
    subjects: [{ kind: User, name: jane, apiGroup: rbac.authorization.k8s.io }]
  - apiVersion: example.com/v1
    kind: Widget
    metadata: { name: one, namespace: default }
    spec: {}
---
# nothing but a comment
`;

  it("has custom resources, manifests and users with their permissions", async () => {
    const folder = await mkdtemp(join(tmpdir(), "k8ts-testing-"));
    try {
      await mkdir(join(folder, "crd/deeper"), { recursive: true });
      await writeFile(join(folder, "crd/deeper/widgets.yaml"), definition);
      await writeFile(join(folder, "crd/README.md"), "not a manifest");
      await writeFile(join(folder, "all.yaml"), manifests);
      const cluster = await started({ crds: [join(folder, "crd")], manifests: [join(folder, "all.yaml")] });
      const jane = cluster
        .as({ name: "jane", groups: ["system:authenticated"] })
        .of(Widget)
        .in("default");
      expect((await jane.get("one")).spec?.size).toBe(7);
      await expect(jane.delete("one")).rejects.toThrow('User "jane" cannot delete resource "widgets"');
      const fork = await cluster.fork();
      expect((await fork.client.of(Widget).in("default").get("one")).spec?.size).toBe(7);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("fails with the manifest that is wrong", async () => {
    const wrong = { apiVersion: "example.com/v1", kind: "Gadget", metadata: { name: "x" } };
    await expect(startCluster({ manifests: [wrong] })).rejects.toThrow(
      "Gadget x: the cluster does not serve example.com/v1 Gadget",
    );
  });

  it("has a port and a kubeconfig if asked for", async () => {
    const cluster = await started({ port: 0 });
    const { client: credentials = {}, ...connection } = await readKubeconfig(cluster.kubeconfig ?? "");
    const clock = realClock();
    const client = new Client({ transport: https({ ...connection, ...credentials }, { clock }), clock });
    try {
      expect((await client.of(kinds.Node).get("node-1")).metadata.name).toBe("node-1");
    } finally {
      await client.close();
    }
    await cluster.stop();
    await expect(readFile(cluster.kubeconfig ?? "")).rejects.toThrow("ENOENT");
  });
});

describe("a fork", () => {
  it("has everything, and neither sees what the other does", async () => {
    const parent = await started({ nodes: 1 });
    await deployments(parent).create(deployment("web", 2));
    await parent.eventually(() => isReady(parent, "web"));
    await parent.clock.advance("1h");
    const fork = await parent.fork();
    expect(fork.clock.now()).toBe(parent.clock.now());
    expect(await pods(fork)).toEqual(await pods(parent));

    await deployments(fork).patch("web", { type: "merge", object: { spec: { replicas: 0 } } });
    await fork.eventually(async () => (await pods(fork)).length === 0);
    await deployments(parent).patch("web", { type: "merge", object: { spec: { replicas: 3 } } });
    await parent.eventually(() => isReady(parent, "web"));
    expect([(await pods(parent)).length, (await pods(fork)).length]).toEqual([3, 0]);

    await parent.clock.advance("1h");
    expect(parent.clock.now() - fork.clock.now()).toBeGreaterThanOrEqual(3_600_000 - 60_000);
  });

  it("goes on with what was under way: rollouts, back-offs, deadlines", async () => {
    const parent = await started({ images: { slow: { readyDelayMs: 30_000 } } });
    await deployments(parent).create(deployment("web", 1, "slow"));
    await parent.clock.advance("10s");
    const forks = [await parent.fork(), await parent.fork()];
    for (const fork of forks) {
      expect(await isReady(fork, "web")).toBeUndefined();
      await fork.clock.advance("21s");
      expect(await isReady(fork, "web")).toBe(true);
    }
    expect(await isReady(parent, "web")).toBeUndefined();
  });

  it("gives no uid twice, nor do its own forks", async () => {
    const parent = await started({ nodes: 0 });
    const configMaps = ({ client }: TestCluster) => client.of(kinds.ConfigMap).in("default");
    const uids = async (cluster: TestCluster) => {
      const lists = [kinds.ConfigMap, kinds.Namespace, kinds.ServiceAccount, kinds.ClusterRole].map((kind) =>
        cluster.client.of<KubeObject>(kind).list(),
      );
      return (await Promise.all(lists)).flatMap(({ items }) => items.map(({ metadata }) => metadata.uid));
    };
    let cluster = parent;
    for (let i = 0; i < 3; i++) {
      for (let j = 0; j < 50; j++) await configMaps(cluster).create({ metadata: { name: `c${i}-${j}` } });
      cluster = await cluster.fork();
    }
    const all = await uids(cluster);
    expect(all.length).toBeGreaterThan(150);
    expect(new Set(all).size).toBe(all.length);
  });

  it("goes back to its beginning, time included", async () => {
    const parent = await started();
    await deployments(parent).create(deployment("web", 1));
    await parent.eventually(() => isReady(parent, "web"));
    const fork = await parent.fork();
    const { client, clock } = fork;
    const before = clock.now();
    for (let i = 0; i < 3; i++) {
      await client.of(kinds.Deployment).in("default").delete("web");
      await fork.eventually(async () => (await pods(fork)).length === 0);
      await clock.advance("1h");
      await fork.reset();
      expect([clock.now(), await pods(fork)]).toEqual([before, await pods(parent)]);
    }
    await parent.reset();
    expect(await pods(parent)).toEqual([]);
  });

  it("can be forked and be one of a hundred", async () => {
    const parent = await started({ nodes: 0 });
    const configMaps = ({ client }: TestCluster) => client.of(kinds.ConfigMap).in("default");
    await configMaps(parent).create({ metadata: { name: "a" }, data: { of: "parent" } });
    const forks: TestCluster[] = [];
    for (let i = 0; i < 100; i++) {
      const fork = await (forks[i - 10] ?? parent).fork();
      forks.push(fork);
      await configMaps(fork).patch("a", { type: "merge", object: { data: { of: `fork ${i}` } } });
    }
    const found = await Promise.all(forks.map((fork) => configMaps(fork).get("a")));
    expect(found.map(({ data }) => data?.of)).toEqual(forks.map((_, i) => `fork ${i}`));
    expect((await configMaps(parent).get("a")).data?.of).toBe("parent");
  });
});
