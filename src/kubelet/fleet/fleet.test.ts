/** Simulated nodes at work: on virtual time, under the Node authorizer and NodeRestriction. */
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, StatusError } from "#api";
import { seededRandom } from "#base";
import { type Handle, lateWatches } from "../../testing/faults/faulty-handle.ts";
import { nodeServer, type TestFleet, type TestFleetOptions, testFleet } from "./testing/index.ts";

let cluster: TestFleet;
const started = async (options?: TestFleetOptions) => {
  cluster = await testFleet(options);
  return cluster;
};
afterEach(() => cluster.close());

const phase = async (name: string) => (await cluster.get(name))?.status?.phase;
const renewed = async (name = "node-1") => {
  const lease = await cluster.client.of(kinds.Lease).in("kube-node-lease").get(name);
  return lease.spec?.renewTime;
};
const pods = () => cluster.client.of(kinds.Pod).in("default");
const nodeStatus = (status: object) =>
  cluster.client
    .of(kinds.Node)
    .subresource("node-1", "status")
    .patch({ type: "merge", object: { status } as never });

describe("a simulated node", () => {
  it("registers as a kubelet does", async () => {
    await started({
      count: 2,
      zones: ["a", "b"],
      region: "r",
      instanceType: "small",
      cpu: "4",
      memory: "8Gi",
      pods: 20,
    });
    expect(await cluster.node("node-2")).toMatchObject({
      metadata: {
        labels: {
          "kubernetes.io/hostname": "node-2",
          "kubernetes.io/os": "linux",
          "kubernetes.io/arch": "amd64",
          "topology.kubernetes.io/zone": "b",
          "topology.kubernetes.io/region": "r",
          "node.kubernetes.io/instance-type": "small",
        },
      },
      status: {
        capacity: { cpu: "4", memory: "8Gi", pods: "20" },
        allocatable: { cpu: "4", memory: "8Gi", pods: "20" },
        addresses: [
          { type: "InternalIP", address: "172.30.0.3" },
          { type: "Hostname", address: "node-2" },
        ],
        conditions: [
          { type: "MemoryPressure", status: "False", reason: "KubeletHasSufficientMemory" },
          { type: "DiskPressure", status: "False", reason: "KubeletHasNoDiskPressure" },
          { type: "PIDPressure", status: "False", reason: "KubeletHasSufficientPID" },
          { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" },
        ],
        nodeInfo: { kubeletVersion: "v1.36.4", operatingSystem: "linux" },
      },
    });
  });

  it("renews its Lease every 10 s and does nothing else while nothing happens", async () => {
    await started();
    const node = await cluster.node();
    const lease = await cluster.client.of(kinds.Lease).in("kube-node-lease").get("node-1");
    expect(lease).toMatchObject({
      metadata: { ownerReferences: [{ kind: "Node", name: "node-1", uid: node.metadata.uid }] },
      spec: { holderIdentity: "node-1", leaseDurationSeconds: 40 },
    });
    const before = cluster.writes.length;
    await cluster.clock.advance(60_000);
    const since = cluster.writes.slice(before);
    expect(new Set(since)).toEqual(
      new Set(["PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1"]),
    );
    expect(since.length).toBeGreaterThanOrEqual(5);
    expect(since.length).toBeLessThanOrEqual(7);
  });

  it("reports its status every 5 minutes", async () => {
    await started();
    const first = (await cluster.node()).status?.conditions?.[3];
    await cluster.clock.advance(320_000);
    const later = (await cluster.node()).status?.conditions?.[3];
    expect(later?.lastTransitionTime).toBe(first?.lastTransitionTime);
    expect(later?.lastHeartbeatTime).not.toBe(first?.lastHeartbeatTime);
  });

  it("keeps resources that others add, and makes them allocatable", async () => {
    await started();
    await nodeStatus({ capacity: { "example.com/gpu": "5" } });
    await cluster.clock.advance(400_000);
    const { capacity, allocatable } = (await cluster.node()).status ?? {};
    expect([capacity?.["example.com/gpu"], allocatable?.["example.com/gpu"]]).toEqual(["5", "5"]);
    await nodeStatus({ capacity: { "example.com/gpu": null } });
    await cluster.clock.advance(2_000);
    expect((await cluster.node()).status?.allocatable).not.toHaveProperty("example.com/gpu");
  });

  it("says again that it is Ready when others doubt it", async () => {
    await started();
    const { conditions = [] } = (await cluster.node()).status ?? {};
    await nodeStatus({
      conditions: conditions.map((each) => (each.type === "Ready" ? { ...each, status: "Unknown" } : each)),
    });
    await cluster.clock.advance(2_000);
    expect((await cluster.node()).status?.conditions?.[3]).toMatchObject({ type: "Ready", status: "True" });
  });
});

describe("its Pods", () => {
  it("come to run, with one PATCH for each transition", async () => {
    await started();
    const before = cluster.writes.length;
    await cluster.pod("p");
    expect(await cluster.get("p")).toMatchObject({
      status: {
        phase: "Pending",
        hostIP: "172.30.0.2",
        observedGeneration: 1,
        containerStatuses: [{ state: { waiting: { reason: "ContainerCreating" } } }],
      },
    });
    await cluster.clock.advance(1_000);
    expect(await cluster.get("p")).toMatchObject({
      status: {
        phase: "Running",
        podIP: "10.128.0.2",
        podIPs: [{ ip: "10.128.0.2" }],
        containerStatuses: [{ ready: true, started: true, state: { running: {} } }],
      },
    });
    expect(cluster.writes.slice(before)).toEqual(Array(2).fill("PATCH /api/v1/namespaces/default/pods/p/status"));
  });

  it("have addresses of their own, from the node's range where it has one", async () => {
    await started();
    await cluster.pod("a");
    await cluster.pod("b");
    await cluster.clock.advance(1_000);
    const object = { spec: { podCIDR: "10.9.1.0/24", podCIDRs: ["10.9.1.0/24"] } };
    await cluster.client.of(kinds.Node).patch("node-1", { type: "merge", object });
    await cluster.pod("c");
    await cluster.pod("host", { hostNetwork: true });
    await cluster.clock.advance(1_000);
    const addresses = await Promise.all(
      ["a", "b", "c", "host"].map(async (name) => (await cluster.get(name))?.status?.podIP),
    );
    expect(addresses).toEqual(["10.128.0.2", "10.128.0.3", "10.9.1.2", "172.30.0.2"]);
  });

  it("end, and give back what they had", async () => {
    await started({ pods: 1 });
    await cluster.pod("job", {
      restartPolicy: "Never",
      containers: [{ name: "c", image: "i", command: ["sleep", "2"] }],
    });
    await cluster.clock.advance(5_000);
    expect(await phase("job")).toBe("Succeeded");
    await cluster.pod("next");
    await cluster.clock.advance(1_000);
    expect(await phase("next")).toBe("Running");
    expect((await cluster.get("job"))?.status?.podIP).toBe("10.128.0.2");
  });

  it("stop when they are deleted: terminated, then gone", async () => {
    await started();
    await cluster.pod("p", {}, { annotations: { "simulated.k8ts.io/stop-delay": "5s" } });
    await cluster.clock.advance(1_000);
    const before = cluster.writes.length;
    await pods().delete("p");
    await cluster.clock.advance(4_000);
    expect(await cluster.get("p")).toMatchObject({
      status: { phase: "Running", conditions: [{}, {}, { type: "Ready", status: "True" }, {}, {}] },
    });
    await cluster.clock.advance(2_000);
    expect(await cluster.get("p")).toBeUndefined();
    const pod = "/api/v1/namespaces/default/pods/p";
    // The deletion is a new generation, which is seen; then how it ended.
    expect(cluster.writes.slice(before).filter((write) => write.includes("pods"))).toEqual([
      `PATCH ${pod}/status`,
      `PATCH ${pod}/status`,
      `DELETE ${pod}`,
    ]);
  });

  it("stop also when the deletion comes with the answer to a report, before its watch event", async () => {
    const server = await nodeServer();
    let lateMs = 0;
    const handle = lateWatches(server.handle as Handle, { clock: server.clock, path: "/pods", ms: () => lateMs });
    const { clock, pod, get } = await started({ server: { ...server, handle: handle as typeof server.handle } });
    lateMs = 3_000;
    await pod("a", { terminationGracePeriodSeconds: 5 });
    await pods().delete("a");
    // It learns of the Pod as it was before, and its report is answered with the Pod as it is now.
    await clock.advance(60_000);
    expect(await get("a")).toBeUndefined();
  });

  it("go at once where nothing of them runs, but not before their finalizers", async () => {
    await started();
    const finalizers = ["example.com/hold"];
    await cluster.pod(
      "p",
      { restartPolicy: "Never", containers: [{ name: "c", image: "i", command: ["true"] }] },
      { finalizers },
    );
    await cluster.clock.advance(1_000);
    await pods().delete("p");
    await cluster.clock.advance(60_000);
    expect(await phase("p")).toBe("Succeeded");
    expect(cluster.writes.filter((write) => write.startsWith("DELETE"))).toHaveLength(1);
    await pods().patch("p", { type: "merge", object: { metadata: { finalizers: null } } });
    expect(await cluster.get("p")).toBeUndefined();
  });

  it("are refused where they do not fit", async () => {
    await started({ cpu: "2" });
    const asking = (cpu: string): Partial<core.PodSpec> => ({
      containers: [{ name: "c", image: "i", resources: { requests: { cpu } } }],
    });
    await cluster.pod("a", asking("1500m"));
    await cluster.pod("b", asking("1"));
    await cluster.pod("elsewhere", { nodeSelector: { disk: "fast" } });
    await cluster.clock.advance(1_000);
    expect(await phase("a")).toBe("Running");
    expect(await cluster.get("b")).toMatchObject({
      status: {
        phase: "Failed",
        reason: "OutOfcpu",
        message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 2000",
      },
    });
    expect(await cluster.get("elsewhere")).toMatchObject({ status: { phase: "Failed", reason: "NodeAffinity" } });
    await pods().delete("b");
    expect(await cluster.get("b")).toBeUndefined();
  });

  it("get more, when there is more", async () => {
    await started({ cpu: "2" });
    const resources = { requests: { cpu: "500m" }, limits: { cpu: "500m" } };
    const containers = [{ name: "c", image: "i", resources }];
    await cluster.pod("a", { containers });
    await cluster.pod("b", { containers });
    await cluster.clock.advance(1_000);
    const resizeTo = async (cpu: string) => {
      const object = { spec: { containers: [{ name: "c", resources: { requests: { cpu }, limits: { cpu } } }] } };
      await pods().subresource("a", "resize").patch({ type: "strategic", object });
      await cluster.clock.advance(1_000);
      const { status } = (await cluster.get("a")) as core.Pod;
      const pending = status?.conditions?.find(({ type }) => type === "PodResizePending");
      return [status?.containerStatuses?.[0]?.allocatedResources?.cpu, pending?.reason];
    };
    expect(await resizeTo("1")).toEqual(["1", undefined]);
    expect(await resizeTo("1800m")).toEqual(["1", "Deferred"]);
    await pods().delete("b");
    await cluster.clock.advance(1_000);
    const { status } = (await cluster.get("a")) as core.Pod;
    expect(status).toMatchObject({
      containerStatuses: [{ resources: { requests: { cpu: "1800m" } }, restartCount: 0 }],
    });
    expect(status?.conditions?.some(({ type }) => type === "PodResizePending")).toBe(false);
  });

  it("start ephemeral containers", async () => {
    await started();
    await cluster.pod("p");
    await cluster.clock.advance(1_000);
    const debug = { name: "debug", image: "i", command: ["sleep", "5"] };
    const object = { spec: { ephemeralContainers: [debug] } };
    await pods().subresource("p", "ephemeralcontainers").patch({ type: "strategic", object });
    await cluster.clock.advance(1_000);
    expect(await cluster.get("p")).toMatchObject({
      status: { ephemeralContainerStatuses: [{ state: { running: {} } }] },
    });
    await cluster.clock.advance(5_000);
    expect(await cluster.get("p")).toMatchObject({
      status: { phase: "Running", ephemeralContainerStatuses: [{ state: { terminated: { exitCode: 0 } } }] },
    });
  });

  it("wait for their readiness gates", async () => {
    await started();
    await cluster.pod("p", { readinessGates: [{ conditionType: "example.com/open" }] });
    await cluster.clock.advance(1_000);
    const ready = async () => (await cluster.get("p"))?.status?.conditions?.find(({ type }) => type === "Ready");
    expect(await ready()).toMatchObject({ status: "False", reason: "ReadinessGatesNotReady" });
    const conditions = [{ type: "example.com/open", status: "True" }];
    await pods()
      .subresource("p", "status")
      .patch({ type: "strategic", object: { status: { conditions } } });
    expect(await ready()).toMatchObject({ status: "True" });
  });
});

describe("a fleet that starts again", () => {
  it("continues where it was", async () => {
    await started();
    await cluster.pod("web");
    await cluster.pod("job", {
      restartPolicy: "Never",
      containers: [{ name: "c", image: "i", command: ["sleep", "60"] }],
    });
    await cluster.pod("crashing", {
      containers: [{ name: "c", image: "i", command: ["sh", "-c", "sleep 1; exit 1"] }],
    });
    await cluster.clock.advance(20_000);
    const before = await cluster.get("web");
    await cluster.stop();
    await cluster.clock.advance(20_000);
    const again = await testFleet({ server: cluster.server });
    await cluster.clock.advance(1_000);
    expect(await cluster.get("web")).toEqual(before);
    expect(again.writes.filter((write) => write.includes("web"))).toEqual([]);
    await cluster.clock.advance(20_000);
    expect(await phase("job")).toBe("Succeeded");
    expect((await cluster.get("crashing"))?.status?.containerStatuses?.[0]?.restartCount).toBeGreaterThan(1);
    await again.pod("new");
    await cluster.clock.advance(1_000);
    expect((await cluster.get("new"))?.status?.podIP).not.toBe(before?.status?.podIP);
    await again.close();
  });
});

describe("a node that fails", () => {
  it.each(["a call", "its annotation"])("falls silent by %s, and comes back", async (by) => {
    await started({ count: 2 });
    const set = async (stopped: boolean) => {
      if (by === "a call") return void (stopped ? cluster.fleet.stopNode("node-1") : cluster.fleet.startNode("node-1"));
      const annotations = { "simulated.k8ts.io/stopped": stopped ? "true" : null };
      await cluster.client.of(kinds.Node).patch("node-1", { type: "merge", object: { metadata: { annotations } } });
      await cluster.server.settle();
    };
    await cluster.pod("stays");
    await cluster.pod("leaves");
    await cluster.clock.advance(15_000);
    await set(true);
    const [before, other] = [await renewed(), await renewed("node-2")];
    const silentFrom = cluster.writes.length;
    await pods().delete("leaves");
    await cluster.pod("late");
    await cluster.clock.advance(60_000);
    expect(cluster.writes.slice(silentFrom).filter((write) => !write.includes("node-2"))).toEqual([]);
    expect(await renewed()).toBe(before);
    expect(await renewed("node-2")).not.toBe(other);
    expect([await phase("stays"), await phase("leaves"), await phase("late")]).toEqual([
      "Running",
      "Running",
      "Pending",
    ]);

    // What the node lifecycle controller says of a node that it has not heard of.
    const { conditions = [] } = (await cluster.node()).status ?? {};
    await nodeStatus({ conditions: conditions.map((each) => ({ ...each, status: "Unknown" })) });
    await set(false);
    await cluster.clock.advance(5_000);
    expect((await cluster.node()).status?.conditions?.map(({ status }) => status)).toEqual([
      "False",
      "False",
      "False",
      "True",
    ]);
    expect(await renewed()).not.toBe(before);
    expect([await phase("stays"), await cluster.get("leaves"), await phase("late")]).toEqual([
      "Running",
      undefined,
      "Running",
    ]);
  });

  it("is not known by another name", async () => {
    await started();
    expect([cluster.fleet.stopNode("nobody"), cluster.fleet.startNode("node-1")]).toEqual([false, true]);
  });
});

describe("a server that fails now and then", () => {
  it("sees the same in the end", async () => {
    const random = seededRandom(7);
    await started({
      count: 3,
      refuse: () => {
        if (random.next() > 0.3) return undefined;
        const reason = random.pick(["Conflict", "InternalError", "ServiceUnavailable"] as const);
        return new StatusError(reason, "not now");
      },
    });
    await cluster.clock.advance(60_000);
    for (let i = 0; i < 30; i++)
      await cluster.pod(`p-${i}`, {
        nodeName: `node-${1 + (i % 3)}`,
        restartPolicy: "Never",
        containers: [{ name: "c", image: "i", command: i < 10 ? ["sleep", "2"] : ["sleep", "infinity"] }],
      });
    await cluster.clock.advance(60_000);
    for (let i = 20; i < 30; i++) await pods().delete(`p-${i}`);
    await cluster.clock.advance(60_000);
    const phases = (await pods().list()).items.map(({ status }) => status?.phase);
    expect(phases.filter((each) => each === "Succeeded")).toHaveLength(10);
    expect(phases.filter((each) => each === "Running")).toHaveLength(10);
    expect(phases).toHaveLength(20);
  });
});

describe("many nodes", () => {
  it("50 nodes, 200 Pods at once: all run, and most say nothing before they do", async () => {
    await started({ count: 50 });
    const before = cluster.writes.length;
    for (let i = 0; i < 200; i++)
      await pods().create({
        metadata: { name: `p-${i}` },
        spec: { nodeName: `node-${1 + (i % 50)}`, containers: [{ name: "c", image: "i" }] },
      });
    await cluster.clock.advance(1_000);
    const { items } = await pods().list();
    expect(items.filter(({ status }) => status?.phase === "Running")).toHaveLength(200);
    expect(new Set(items.map(({ status }) => status?.podIP)).size).toBe(200);
    expect(cluster.writes.slice(before).filter((write) => write.includes("/pods/"))).toHaveLength(250);
  });

  it("a Pod that starts among many ends up like one that starts alone", async () => {
    await started({ count: 2 });
    const before = cluster.writes.length;
    await cluster.pod("alone", { nodeName: "node-2" });
    await cluster.clock.advance(5_000);
    expect(cluster.writes.slice(before).filter((write) => write.includes("/pods/"))).toHaveLength(2);
    for (let i = 0; i < 100; i++)
      await pods().create({
        metadata: { name: `p-${i}` },
        spec: { nodeName: "node-1", automountServiceAccountToken: false, containers: [{ name: "c", image: "img" }] },
      });
    await cluster.clock.advance(5_000);
    const seen = async (name: string) => {
      const own = /^(.*Time|startedAt|containerID|podIPs?|hostIPs?)$/;
      const { status } = (await cluster.get(name)) as core.Pod;
      return JSON.parse(JSON.stringify(status, (key, value) => (own.test(key) ? undefined : value)));
    };
    expect(await seen("p-99")).toEqual(await seen("alone"));
  });
});
