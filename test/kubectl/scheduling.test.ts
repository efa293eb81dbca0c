/**
 * The scheduler as kubectl sees it, on four simulated nodes of two zones: where Pods go, why they wait, and who has to
 * make room.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Home } from "../support/k8ts.ts";
import { CommandLine, tool } from "../support/tools.ts";

const program = tool("kubectl");
let home: Home;
const kubectl = new CommandLine(program, () => home);

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";

beforeAll(async () => {
  home = new Home();
  const flags = ["--runtime", "simulated", "--nodes", "4", "--node-cpu", "2", "--node-zones", "a,b"];
  const up = await home.k8ts("up", "--store", "memory", "--port", "0", "--detach", ...flags);
  if (up.code !== 0) throw new Error(up.stderr);
});
afterAll(() => home[Symbol.asyncDispose]());

/** Every case begins on empty nodes. */
afterEach(() =>
  kubectl.ok(
    "delete",
    "deployments,pods,poddisruptionbudgets",
    "--all",
    "--grace-period=0",
    "--force",
    "--timeout=30s",
  ),
);

interface PodSpec {
  readonly [field: string]: unknown;
  readonly containers?: readonly object[];
}

const containers = (cpu?: string, more: object = {}) => [
  { name: "c", image: "web:1", ...(cpu !== undefined && { resources: { requests: { cpu } } }), ...more },
];

const pod = (name: string, spec: PodSpec = {}, labels: Readonly<Record<string, string>> = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels },
  spec: { terminationGracePeriodSeconds: 0, containers: containers(), ...spec },
});

const deployment = (name: string, replicas: number, spec: PodSpec = {}) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { terminationGracePeriodSeconds: 0, containers: containers(), ...spec },
    },
  },
});

const create = (...objects: readonly object[]) => kubectl.given(...objects).ok("create", "-f", "-");
const ready = (...pods: readonly string[]) =>
  kubectl.ok("wait", "--for=condition=Ready", "--timeout=30s", ...pods.map((name) => `pod/${name}`));
const nodeOf = (name: string) => kubectl.ok("get", "pod", name, "-o", "jsonpath={.spec.nodeName}");
const rolledOut = (name: string) => kubectl.ok("rollout", "status", `deployment/${name}`, "--timeout=30s");
const nodesOf = async (app: string) => {
  const path = "jsonpath={range .items[*]}{.spec.nodeName}{'\\n'}{end}";
  return (await kubectl.ok("get", "pods", "-l", `app=${app}`, "-o", path)).split("\n").filter((name) => name !== "");
};
/** Why a Pod waits, once that is known. */
const waits = async (name: string) => {
  await kubectl.ok("wait", "--for=condition=PodScheduled=false", "--timeout=30s", `pod/${name}`);
  const path = 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}';
  return kubectl.ok("get", "pod", name, "-o", path);
};

const term = (app: string, topologyKey: string) => ({ labelSelector: { matchLabels: { app } }, topologyKey });
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const on = (name: string) => ({ nodeSelector: { [HOST]: name } });

describe.skipIf(program === undefined)("scheduling", () => {
  it("selectors: a Pod goes where the labels are, and waits for them", async () => {
    await kubectl.ok("label", "node", "node-2", "disk=ssd");
    const term = { matchExpressions: [{ key: "disk", operator: "In", values: ["nvme"] }] };
    const nodeAffinity = { [REQUIRED]: { nodeSelectorTerms: [term] } };
    await create(pod("picky", { nodeSelector: { disk: "ssd" } }), pod("waiting", { affinity: { nodeAffinity } }));
    await ready("picky");
    expect(await nodeOf("picky")).toBe("node-2");
    expect(await waits("waiting")).toMatch(
      /^0\/4 nodes are available: 4 node\(s\) didn't match Pod's node affinity\/selector\. .*preemption: 0\/4 nodes are available: 4 Preemption is not helpful for scheduling\.$/,
    );
    await expect
      .poll(() => kubectl.ok("get", "events", "--field-selector", "involvedObject.name=waiting"))
      .toContain("FailedScheduling");
    await kubectl.ok("label", "node", "node-3", "disk=nvme");
    await ready("waiting");
    expect(await nodeOf("waiting")).toBe("node-3");
  });

  it("affinity: next to one Pod, away from others", async () => {
    await create(pod("db", on("node-3"), { app: "db" }));
    await ready("db");
    const podAffinity = { [REQUIRED]: [term("db", HOST)] };
    const podAntiAffinity = { [REQUIRED]: [term("apart", HOST)] };
    await create(pod("near", { affinity: { podAffinity } }), deployment("apart", 4, { affinity: { podAntiAffinity } }));
    await Promise.all([ready("near"), rolledOut("apart")]);
    expect(await nodeOf("near")).toBe("node-3");
    expect((await nodesOf("apart")).sort()).toEqual(["node-1", "node-2", "node-3", "node-4"]);
  });

  it("taints: only Pods that tolerate them, and none on a cordoned node", async () => {
    await kubectl.ok("taint", "node", "node-1", "dedicated=db:NoSchedule");
    await kubectl.ok("cordon", "node-2");
    try {
      const tolerations = [{ key: "dedicated", value: "db", effect: "NoSchedule" }];
      await create(
        pod("stranger", on("node-1")),
        pod("guest", { ...on("node-1"), tolerations }),
        deployment("others", 4),
      );
      await Promise.all([ready("guest"), rolledOut("others")]);
      expect(new Set(await nodesOf("others"))).toEqual(new Set(["node-3", "node-4"]));
      expect(await waits("stranger")).toMatch(
        /^0\/4 nodes are available: 1 node\(s\) had untolerated taint\(s\), 1 node\(s\) were unschedulable, 2 node\(s\) didn't match Pod's node affinity\/selector\./,
      );
    } finally {
      await kubectl.ok("uncordon", "node-2");
      await kubectl.ok("taint", "node", "node-1", "dedicated-");
    }
    await ready("stranger");
  });

  it("spread: as many in one zone as in the other", async () => {
    const constraint = {
      maxSkew: 1,
      topologyKey: ZONE,
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: { matchLabels: { app: "spread" } },
    };
    await create(deployment("spread", 6, { topologySpreadConstraints: [constraint] }));
    await rolledOut("spread");
    const zones = (await nodesOf("spread")).map((name) => (name === "node-1" || name === "node-3" ? "a" : "b"));
    expect(zones.filter((zone) => zone === "a")).toHaveLength(3);
    expect(zones).toHaveLength(6);
  });

  it("preemption: the more important takes the place of another, but not of a guarded one", async () => {
    const priority = {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: "high" },
      value: 1000,
    };
    const budget = {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "guarded" },
      spec: { minAvailable: 2, selector: { matchLabels: { app: "guarded" } } },
    };
    const full = { containers: containers("1500m") };
    await create(priority, budget, deployment("guarded", 2, full), deployment("open", 2, full));
    await Promise.all([rolledOut("guarded"), rolledOut("open")]);
    await kubectl.ok("wait", "pdb/guarded", "--for=jsonpath={.status.currentHealthy}=2", "--timeout=30s");
    const guarded = (await nodesOf("guarded")).sort();

    await create(pod("small", full));
    expect(await waits("small")).toMatch(
      /^0\/4 nodes are available: 4 Insufficient cpu\. .*4 No preemption victims found for incoming pod\.$/,
    );
    await create(pod("important", { ...full, priorityClassName: "high" }));
    await ready("important");
    expect((await nodesOf("guarded")).sort()).toEqual(guarded);
    expect(guarded).not.toContain(await nodeOf("important"));
    await expect
      .poll(() => kubectl.ok("get", "events", "--field-selector", "reason=Preempted"))
      .toMatch(/Preempted by pod .* on node /);
  });

  it("gates: a Pod is held back until the last is taken off", async () => {
    await create(pod("held", { schedulingGates: [{ name: "example.com/quota" }] }));
    await kubectl.ok("wait", "--for=condition=PodScheduled=false", "--timeout=30s", "pod/held");
    expect(await kubectl.ok("get", "pod", "held")).toContain("SchedulingGated");
    await kubectl.ok("patch", "pod", "held", "-p", '{"spec":{"schedulingGates":null}}');
    await ready("held");
  });

  it("host ports: one on each node, the next waits until one goes", async () => {
    const ports = [{ containerPort: 80, hostPort: 8080 }];
    await create(deployment("edge", 4, { containers: containers(undefined, { ports }) }));
    await rolledOut("edge");
    expect(new Set(await nodesOf("edge")).size).toBe(4);
    await create(pod("fifth", { containers: containers(undefined, { ports }) }));
    expect(await waits("fifth")).toMatch(
      /^0\/4 nodes are available: 4 node\(s\) didn't have free ports for the requested pod ports\./,
    );
    await kubectl.ok("scale", "deployment/edge", "--replicas=3");
    await ready("fifth");
  });

  it("volumes: a Pod goes where its disk is, and the claim is bound to it", async () => {
    const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: HOST, operator: "In", values: ["node-4"] }] }] };
    await create(
      {
        apiVersion: "storage.k8s.io/v1",
        kind: "StorageClass",
        metadata: { name: "local" },
        provisioner: "kubernetes.io/no-provisioner",
        volumeBindingMode: "WaitForFirstConsumer",
      },
      {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name: "disk" },
        spec: {
          capacity: { storage: "1Gi" },
          accessModes: ["ReadWriteOnce"],
          storageClassName: "local",
          local: { path: "/disk" },
          nodeAffinity: { required },
        },
      },
    );
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
    await create(pod("db", { volumes }));
    expect(await waits("db")).toMatch(/^0\/4 nodes are available: persistentvolumeclaim "data" not found\./);
    await create({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: "local",
        resources: { requests: { storage: "1Gi" } },
      },
    });
    await kubectl.ok("wait", "--for=condition=PodScheduled", "--timeout=30s", "pod/db");
    expect(await nodeOf("db")).toBe("node-4");
    await kubectl.ok("wait", "pvc/data", "--for=jsonpath={.status.phase}=Bound", "--timeout=30s");
    expect(await kubectl.ok("get", "pvc", "data")).toMatch(/data +Bound +disk +1Gi +RWO +local/);
  });
});
