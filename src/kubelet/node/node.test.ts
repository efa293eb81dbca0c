import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { admitPod, admitResize } from "./admission.ts";
import { type NodeHealth, nodeConditions, type Pressure } from "./conditions.ts";
import { type PodUse, pressureProblem, rankForEviction, shortages } from "./eviction.ts";
import { cgroupFiles, parseHierarchies } from "./host-cgroups.ts";
import { historyOf, imagesToRemove } from "./image-gc.ts";
import { parseImageName, withDefaultTag } from "./image-name.ts";
import { tooMany } from "./log-rotation.ts";
import { type Machine, type MachineUsage, meminfo } from "./machine.ts";
import { matchesNode } from "./node-affinity.ts";
import { allocatableOf, capacityOf, type NodeReport, nodeStatus, nodeStatusPatch } from "./node-object.ts";
import { credentialsFor } from "./pull-secrets.ts";

const NOW = Date.UTC(2030, 0, 1);
const pod = (spec: Partial<core.PodSpec> = {}, name = "web"): core.Pod => ({
  metadata: { name, namespace: "default", uid: name },
  spec: { containers: [{ name: "app" }], ...spec },
});
const asking = (requests: Record<string, string>, name?: string) =>
  pod({ containers: [{ name: "app", resources: { requests } }] }, name);
const onPort = (hostPort: number, hostIP = "", name?: string) =>
  pod({ containers: [{ name: "app", ports: [{ containerPort: 80, hostPort, hostIP }] }] }, name);

describe("admission", () => {
  const facts = {
    node: { metadata: { name: "node-1", labels: { zone: "a" } } },
    allocatable: { cpu: "2", memory: "1Gi", pods: "3", "example.com/gpu": "1" },
    allowedUnsafeSysctls: ["kernel.msg*"],
  };
  const sysctl = (name: string, more: Partial<core.PodSpec> = {}) =>
    pod({ securityContext: { sysctls: [{ name, value: "1" }] }, ...more });
  it.each<[string, core.Pod, readonly core.Pod[], string | undefined]>([
    ["it fits", asking({ cpu: "1" }), [asking({ cpu: "1" })], undefined],
    [
      "processors",
      asking({ cpu: "1500m" }),
      [asking({ cpu: "1" })],
      "OutOfcpu: Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
    ],
    [
      "memory",
      asking({ memory: "2Gi" }),
      [],
      "OutOfmemory: Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824",
    ],
    [
      "devices",
      asking({ "example.com/gpu": "1" }),
      [asking({ "example.com/gpu": "1" })],
      "OutOfexample.com/gpu: Node didn't have enough resource: example.com/gpu, requested: 1, used: 1, capacity: 1",
    ],
    [
      "pods",
      pod(),
      [pod(), pod(), pod()],
      "OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
    ],
    [
      "a port",
      onPort(80),
      [onPort(80)],
      "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    ],
    ["another address", onPort(80, "10.0.0.1"), [onPort(80, "10.0.0.2")], undefined],
    [
      "any address",
      onPort(80, "10.0.0.1"),
      [onPort(80, "0.0.0.0")],
      "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    ],
    [
      "a selector",
      pod({ nodeSelector: { zone: "b" } }),
      [],
      "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ],
    [
      "another system",
      pod({ os: { name: "windows" } }),
      [],
      "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS",
    ],
    ["a safe sysctl", sysctl("kernel.shm_rmid_forced"), [], undefined],
    ["an allowed one", sysctl("kernel.msgmax"), [], undefined],
    ["another", sysctl("kernel.panic"), [], 'SysctlForbidden: forbidden sysctl: "kernel.panic" not allowlisted'],
    [
      "one of the node's own network",
      sysctl("net.ipv4.tcp_syncookies", { hostNetwork: true }),
      [],
      'SysctlForbidden: forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host net enabled',
    ],
  ])("%s", (_, asked, active, want) => {
    const problem = admitPod(asked, active, facts);
    expect(problem && `${problem.reason}: ${problem.message}`).toBe(want);
  });

  it.each<[string, string, string | undefined]>([
    ["1", "500m", undefined],
    ["1500m", "1", "Deferred: Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000"],
    ["3", "0", "Infeasible: Node didn't have enough capacity: cpu, requested: 3000, capacity: 2000"],
  ])("a resize to %s beside %s", (cpu, other, want) => {
    const verdict = admitResize(asking({ cpu }), [asking({ cpu: other })], facts.allocatable);
    expect(verdict.fits ? undefined : `${verdict.reason}: ${verdict.message}`).toBe(want);
  });
});

describe("node affinity", () => {
  const node = { metadata: { name: "node-1", labels: { zone: "a", size: "5" } } };
  const required = (...matchExpressions: core.NodeSelectorRequirement[]) =>
    pod({
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
      },
    });
  it.each<[core.NodeSelectorRequirement, boolean]>([
    [{ key: "zone", operator: "In", values: ["a", "b"] }, true],
    [{ key: "zone", operator: "NotIn", values: ["a"] }, false],
    [{ key: "none", operator: "NotIn", values: ["a"] }, true],
    [{ key: "zone", operator: "Exists" }, true],
    [{ key: "zone", operator: "DoesNotExist" }, false],
    [{ key: "size", operator: "Gt", values: ["4"] }, true],
    [{ key: "size", operator: "Lt", values: ["4"] }, false],
  ])("%j: %s", (requirement, want) => expect(matchesNode(required(requirement), node)).toBe(want));

  it("an empty term fits nothing, and a field is the name", () => {
    expect(matchesNode(required(), node)).toBe(false);
    const matchFields = [{ key: "metadata.name", operator: "In", values: ["node-1"] }] as const;
    const named = {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } },
    };
    expect(matchesNode(pod({ affinity: named }), node)).toBe(true);
  });
});

describe("the Node", () => {
  const machine = { cpus: 2, memoryBytes: 4 * 1024 ** 3, diskBytes: 100 * 1024 ** 3, architecture: "amd64" } as Machine;
  const capacity = capacityOf(machine, 110);
  const report: NodeReport = {
    machine,
    capacity,
    allocatable: capacity,
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "ok" }],
    images: [],
    kubeletPort: 10250,
    runtimeVersion: "containerd://1",
    kubeletVersion: "v1",
    runtimeHandlers: [],
  };

  it("has what the machine has, less what is kept for others", () => {
    expect(capacity).toMatchObject({ cpu: "2", memory: "4194304Ki", pods: "110" });
    const kept = { kube: { cpu: "250m", memory: "1Gi" }, system: { cpu: "250m" }, evictionMemory: "1Mi" };
    expect(allocatableOf(capacity, kept)).toMatchObject({ cpu: "1500m", memory: "3144704Ki", pods: "110" });
  });

  it("is told once, then only what changes; what others have put there stays", () => {
    const first = nodeStatus({}, report, NOW);
    expect(nodeStatusPatch({}, first, true)?.status).toMatchObject({ capacity, conditions: [{ type: "Ready" }] });
    const stored = { ...first, capacity: { ...capacity, "example.com/gpu": "4" } };
    const later = nodeStatus(stored, report, NOW + 10_000);
    expect(nodeStatusPatch(stored, later, false)).toBeUndefined();
    expect(nodeStatusPatch(stored, later, true)?.status).toMatchObject({
      conditions: [{ lastHeartbeatTime: "2030-01-01T00:00:10Z", lastTransitionTime: "2030-01-01T00:00:00Z" }],
    });
    const bad = nodeStatus(
      stored,
      { ...report, conditions: [{ type: "Ready", status: "False", reason: "KubeletNotReady", message: "no" }] },
      NOW + 20_000,
    );
    expect(nodeStatusPatch(stored, bad, false)).toEqual({
      status: {
        conditions: [
          {
            type: "Ready",
            status: "False",
            reason: "KubeletNotReady",
            message: "no",
            lastHeartbeatTime: "2030-01-01T00:00:20Z",
            lastTransitionTime: "2030-01-01T00:00:20Z",
          },
        ],
      },
    });
  });

  const well = {
    conditions: [
      { type: "RuntimeReady", status: true, reason: "", message: "" },
      { type: "NetworkReady", status: true, reason: "", message: "" },
    ],
  };
  const healthy: NodeHealth = { runtime: well, runtimeProblem: undefined, pressures: new Set() };
  const noNetwork = {
    conditions: [{ type: "NetworkReady", status: false, reason: "NetworkPluginNotReady", message: "no cni" }],
  };
  it.each<[string, Partial<NodeHealth>, string, string]>([
    ["well", {}, "True", "kubelet is posting ready status"],
    [
      "no network",
      { runtime: noNetwork },
      "False",
      "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:no cni",
    ],
    ["no runtime", { runtime: undefined }, "False", "container runtime is down"],
    [
      "several",
      { runtime: noNetwork, runtimeProblem: "PLEG is not healthy" },
      "False",
      "[PLEG is not healthy, container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:no cni]",
    ],
  ])("ready: %s", (_, health, status, message) =>
    expect(nodeConditions({ ...healthy, ...health }).find(({ type }) => type === "Ready")).toMatchObject({
      status,
      message,
    }),
  );

  it("pressures are told", () => {
    const told = nodeConditions({ ...healthy, pressures: new Set<Pressure>(["DiskPressure"]) });
    expect(told.map(({ type, status }) => `${type}=${status}`)).toEqual([
      "MemoryPressure=False",
      "DiskPressure=True",
      "PIDPressure=False",
      "Ready=True",
    ]);
  });
});

describe("eviction", () => {
  const usage: MachineUsage = {
    memoryAvailableBytes: 50 * 1024 ** 2,
    memoryBytes: 1024 ** 3,
    diskAvailableBytes: 5,
    diskBytes: 100,
    inodesFree: 0,
    inodes: 0,
    processes: 10,
    maxProcesses: 100,
  };
  it.each<[Record<string, string>, string[]]>([
    [{ "memory.available": "100Mi" }, ["MemoryPressure"]],
    [{ "memory.available": "10Mi" }, []],
    [{ "nodefs.available": "10%" }, ["DiskPressure"]],
    [{ "nodefs.inodesFree": "5%" }, []],
    [{ "pid.available": "95%" }, ["PIDPressure"]],
    [{ unknown: "1" }, []],
  ])("%j: %j", (thresholds, want) =>
    expect(shortages(usage, thresholds).map(({ pressure }) => pressure)).toEqual(want),
  );

  it("who is above its request goes first, then who counts less, then who is furthest above", () => {
    const use = (name: string, used: number, requested: string, priority = 0): PodUse => {
      const asked = asking({ memory: requested }, name);
      return { pod: { ...asked, spec: { ...asked.spec, containers: asked.spec?.containers ?? [], priority } }, used };
    };
    const ranked = rankForEviction(
      [
        use("within", 10, "20"),
        use("above", 30, "20"),
        use("far above", 90, "20"),
        use("above, important", 90, "20", 100),
        use("critical", 90, "0", 2_000_000_000),
      ],
      "memory",
    );
    expect(ranked.map(({ pod: { metadata } }) => metadata.name)).toEqual([
      "far above",
      "above",
      "above, important",
      "within",
    ]);
  });

  it.each<[string, core.Pod, Pressure[], boolean, boolean]>([
    ["no pressure", pod(), [], true, false],
    ["memory, BestEffort", pod(), ["MemoryPressure"], true, true],
    ["memory, others", pod(), ["MemoryPressure"], false, false],
    ["disk", pod(), ["DiskPressure"], false, true],
    ["disk, critical", pod({ priority: 2_000_000_000 }), ["DiskPressure"], false, false],
  ])("a new pod: %s", (_, asked, pressures, bestEffort, refused) =>
    expect(pressureProblem(asked, new Set(pressures), bestEffort) !== undefined).toBe(refused),
  );
});

describe("images", () => {
  it.each<[string, object | undefined]>([
    ["busybox", { registry: "docker.io", repository: "library/busybox", tag: "", digest: "" }],
    ["a/b:1.2", { registry: "docker.io", repository: "a/b", tag: "1.2" }],
    ["localhost/x", { registry: "localhost", repository: "x" }],
    ["reg.example:5000/a/b:c", { registry: "reg.example:5000", repository: "a/b", tag: "c" }],
    [`x@sha256:${"a".repeat(64)}`, { repository: "library/x", digest: `sha256:${"a".repeat(64)}` }],
    ["Upper", undefined],
    ["a b", undefined],
    ["a:", undefined],
    ["", undefined],
  ])("%j", (name, want) => {
    if (want === undefined) expect(parseImageName(name)).toBeUndefined();
    else expect(parseImageName(name)).toMatchObject(want);
  });

  it("without a tag it is the latest", () => {
    expect([withDefaultTag("a"), withDefaultTag("a:1"), withDefaultTag("host:5000/a")]).toEqual([
      "a:latest",
      "a:1",
      "host:5000/a:latest",
    ]);
  });

  const secret = (auths: object): core.Secret => ({
    metadata: {},
    type: "kubernetes.io/dockerconfigjson",
    data: { ".dockerconfigjson": Buffer.from(JSON.stringify({ auths })).toString("base64") },
  });
  const auth = (user: string) => ({ auth: Buffer.from(`${user}:pw`).toString("base64") });
  it.each<[string, object, string[]]>([
    [
      "reg.example/a/b",
      { "reg.example": auth("all"), "reg.example/a": auth("near"), "other.example": auth("no") },
      ["near", "all"],
    ],
    ["reg.example/a", { "https://reg.example/v1/": auth("old") }, ["old"]],
    ["sub.reg.example/a", { "*.reg.example": auth("any"), "reg.example": auth("no") }, ["any"]],
    ["busybox", { "https://index.docker.io/v1/": auth("hub") }, ["hub"]],
  ])("credentials for %s", (image, auths, want) =>
    expect(credentialsFor(image, [secret(auths)]).map(({ username }) => username)).toEqual(want),
  );

  it("a Secret that makes no sense gives none", () =>
    expect(credentialsFor("a", [{ metadata: {}, data: { ".dockerconfigjson": "eHg=" } }])).toEqual([]));

  it("unused ones go, the longest unused first, until there is room", () => {
    const image = (id: string, sizeBytes = 10) => ({ id, repoTags: [`r/${id}`], repoDigests: [], sizeBytes });
    const images = [
      image("used"),
      image("old"),
      image("older"),
      { ...image("kept"), repoTags: ["localhost/kept:1"] },
      image("new"),
    ];
    const inUse = new Set(["r/used"]);
    const first = historyOf(new Map(), images.slice(0, 4), new Set(["r/old"]), NOW - 600_000);
    const history = historyOf(first, images, inUse, NOW);
    const removed = (bytes: number) => imagesToRemove(images, inUse, history, bytes, NOW).map(({ id }) => id);
    expect(removed(0)).toEqual([]);
    expect(removed(5)).toEqual(["older"]);
    expect(removed(Number.POSITIVE_INFINITY)).toEqual(["older", "old"]);
  });
});

describe("the machine", () => {
  it("reads /proc/meminfo", () =>
    expect(meminfo("MemTotal:  16 kB\nMemAvailable:   8 kB\n", "MemAvailable")).toBe(8192));

  it("finds its cgroups of both versions", () => {
    const v1 =
      "1 0 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n2 0 0:2 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n3 0 0:3 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    expect(parseHierarchies(v1)).toMatchObject({
      version: 1,
      roots: ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"],
    });
    expect(parseHierarchies("1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")).toMatchObject({
      version: 2,
      roots: ["/sys/fs/cgroup"],
    });
  });

  it("limits are written as each version has them", () => {
    const limits = { cpuShares: 1024, cpuQuota: 50_000, cpuPeriod: 100_000, memoryLimitBytes: 64 };
    expect(cgroupFiles(1, limits)).toContainEqual(["memory", "memory.limit_in_bytes", "64"]);
    expect(cgroupFiles(2, limits)).toEqual([
      ["all", "cpu.weight", "39"],
      ["all", "cpu.max", "50000 100000"],
      ["all", "memory.max", "64"],
    ]);
    expect(cgroupFiles(2, { cpuShares: 2 })).toContainEqual(["all", "cpu.max", "max 100000"]);
  });

  it("of logs put aside the newest stay", () => expect(tooMany(["1", "2", "3", "4"], 5)).toEqual(["1"]));
});
