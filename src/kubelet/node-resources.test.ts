import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { defaultFeatures } from "#api";
import { MetricsRegistry, silentLogger, VirtualClock } from "#base";
import { KUBELET_DEFAULTS, type KubeletConfig } from "./config/index.ts";
import { CONTAINER_NAME, POD_UID } from "./containers/index.ts";
import { settleProcess } from "./host/index.ts";
import { sliceMaker } from "./host/systemd-slices.ts";
import {
  enforcedLimits,
  machineProblem,
  podTopology,
  reservedAmounts,
  resizeProblem,
  runCpuReconciler,
  topologyManager,
} from "./node-resources.ts";
import type { Container, LinuxResources } from "./runtime/runtime.ts";
import { machineOf } from "./topology/testing/machines.ts";

const GIB = 1024 ** 3;
const configOf = (more: Partial<KubeletConfig>): KubeletConfig => ({
  ...KUBELET_DEFAULTS,
  nodeName: "n",
  nodeIps: [],
  podLogsRoot: "/",
  ...more,
});
const topologyOf = (more: Partial<KubeletConfig["topology"]>) => ({ ...KUBELET_DEFAULTS.topology, ...more });
const cgroupsOf = (more: Partial<KubeletConfig["cgroups"]>) => ({ ...KUBELET_DEFAULTS.cgroups, ...more });
const MACHINE = {
  hostname: "n",
  cpus: 4,
  memoryBytes: 8 * GIB,
  diskBytes: GIB,
  machineId: "",
  systemUuid: "",
  bootId: "",
  kernelVersion: "",
  osImage: "",
  architecture: "amd64",
  resolver: { servers: [], searches: [], options: [] },
};

function managerOf(config: KubeletConfig, files = new Map<string, string>()) {
  return topologyManager({
    config,
    machine: MACHINE,
    topology: machineOf({ sockets: 1, coresPerNuma: 4, memoryPerNuma: 8 * GIB }),
    cgroupVersion: 1,
    files: { read: async (name) => files.get(name), write: async (name, text) => void files.set(name, text) },
    features: defaultFeatures,
    metrics: new MetricsRegistry(),
    clock: new VirtualClock(),
  });
}

const guaranteed = (uid: string, cpu: string): core.Pod => {
  const amounts = { cpu, memory: "1Gi" };
  return {
    metadata: { uid, name: uid, namespace: "default" },
    spec: { containers: [{ name: "app", resources: { requests: amounts, limits: amounts } }] },
  };
};

describe("what is reserved", () => {
  it("is kept from Pods, and enforced where that is asked for", () => {
    const capacity = { cpu: "4", memory: "8Gi" };
    const kubeReserved = { cpu: "500m", memory: "1Gi", pid: "100" };
    const enforced = (cgroups: Partial<KubeletConfig["cgroups"]>) =>
      enforcedLimits(configOf({ kubeReserved, cgroups: cgroupsOf(cgroups) }), capacity, 1000);
    expect(enforced({})).toEqual({
      pods: { cpuShares: 3584, memoryLimitBytes: 7 * GIB, pids: 900 },
      existing: [],
    });
    expect(enforced({ enforce: ["none"] }).pods).toBeUndefined();
    const kube = { kubeReserved: "/kube", enforce: ["pods", "kube-reserved"] };
    const limits = { cpuShares: 512, memoryLimitBytes: GIB, pids: 100 };
    expect(enforced(kube).existing).toEqual([{ cgroup: "/kube", what: "Kube Reserved", limits }]);
    const { existing } = enforced({ ...kube, enforce: ["kube-reserved-compressible"] });
    expect(existing[0]?.limits).toEqual({ cpuShares: 512 });
  });

  it("may be CPUs by their numbers", () => {
    const config = configOf({
      kubeReserved: { cpu: "1", memory: "1Gi" },
      topology: topologyOf({ reservedCpus: "0-1" }),
    });
    expect(reservedAmounts(config)).toEqual({ kube: { memory: "1Gi" }, system: { cpu: "2" } });
  });
});

describe("managers", () => {
  const systemReserved = { cpu: "1" };
  it.each<[string, Partial<KubeletConfig>, string]>([
    [
      "without reserved CPUs",
      { topology: topologyOf({ cpuPolicy: "static" }) },
      "[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero",
    ],
    [
      "memory that does not add up",
      {
        topology: topologyOf({ memoryPolicy: "Static", reservedMemory: [{ numaNode: 0, limits: { memory: "1Gi" } }] }),
      },
      `the total amount "${GIB}" of type "memory" is not equal to the value "${100 * 1024 ** 2}" determined by Node Allocatable feature`,
    ],
  ])("are refused %s", async (_, more, problem) => {
    await expect(managerOf(configOf(more))).rejects.toThrow(problem);
  });

  it("another policy does not take over CPUs of containers", async () => {
    const files = new Map<string, string>();
    const config = configOf({ systemReserved, topology: topologyOf({ cpuPolicy: "static" }) });
    const manager = await managerOf(config, files);
    expect(await manager.admit(guaranteed("a", "2"))).toBeUndefined();
    expect(JSON.parse(files.get("cpu_manager_state") ?? "").entries).toEqual({ a: { app: "1-2" } });
    await expect(managerOf(configOf({}), files)).rejects.toThrow(
      'configured policy "none" differs from state checkpoint policy "static"',
    );
  });

  it("running containers follow the shared CPUs", async () => {
    const clock = new VirtualClock();
    const manager = await managerOf(configOf({ systemReserved, topology: topologyOf({ cpuPolicy: "static" }) }));
    const updates: (readonly [string, LinuxResources])[] = [];
    const running = new Set(["web", "db"]);
    const container = (uid: string): Container => ({
      id: uid,
      podSandboxId: "s",
      metadata: { name: "app", attempt: 0 },
      image: "",
      imageRef: "",
      state: "running",
      createdAtMs: 0,
      labels: { [POD_UID]: uid, [CONTAINER_NAME]: "app" },
      annotations: {},
    });
    const runtime = {
      listContainers: async () => [...running].map(container),
      updateContainerResources: async (id: string, resources: LinuxResources) => void updates.push([id, resources]),
    };
    await manager.admit(guaranteed("db", "2"));
    expect(podTopology(manager).placementOf(guaranteed("db", "2"), "app")).toEqual({ cpus: "1-2", isExclusive: true });
    const stop = new AbortController();
    const log = silentLogger;
    const exists = (uid: string) => running.has(uid);
    const done = runCpuReconciler({ manager, runtime, exists, periodMs: 1000, clock, log }, stop.signal);
    await clock.advance(1000);
    expect(updates).toEqual([
      ["web", { cpusetCpus: "0,3" }],
      ["db", { cpusetCpus: "1-2" }],
    ]);
    // A Pod that is gone leaves its CPUs to the others.
    running.delete("db");
    await clock.advance(1000);
    expect(updates.slice(2)).toEqual([["web", { cpusetCpus: "0-3" }]]);
    await clock.advance(5000);
    expect(updates).toHaveLength(3);
    stop.abort();
    await done.catch(() => {});
  });

  it("a Guaranteed Pod's CPUs do not change while it runs", () => {
    const [before, after] = [guaranteed("a", "2"), guaranteed("a", "3")];
    const fixed = topologyOf({ cpuPolicy: "static" });
    expect(resizeProblem(before, after, fixed, true)).toBe(
      "Resize is infeasible for Guaranteed Pods alongside CPU Manager static policy",
    );
    expect(resizeProblem(before, before, fixed, true)).toBeUndefined();
    expect(resizeProblem(before, after, fixed, false)).toBeUndefined();
    expect(resizeProblem(before, after, KUBELET_DEFAULTS.topology, true)).toBeUndefined();
  });
});

describe("a machine", () => {
  it.each<[string, Partial<KubeletConfig>, 1 | 2, string | undefined]>([
    ["with swap", { swap: { failOn: true, behavior: "NoSwap" } }, 2, "running with swap on is not supported"],
    ["with swap that is allowed", { swap: { failOn: false, behavior: "NoSwap" } }, 2, undefined],
    ["with cgroup v1", { cgroups: cgroupsOf({ failV1: true }) }, 1, "configured to not run on a host using cgroup v1"],
    [
      "whose kernel kills one",
      { cgroups: cgroupsOf({ singleProcessOomKill: false }) },
      1,
      "singleProcessOOMKill must not",
    ],
  ])("%s", (_, more, cgroupVersion, want) => {
    const problem = machineProblem(configOf(more), { swapBytes: GIB, cgroupVersion });
    if (want === undefined) expect(problem).toBeUndefined();
    else expect(problem).toContain(want);
  });

  it("whose kernel is set otherwise is refused if that is asked for", async () => {
    const read = async (path: string) =>
      path.endsWith("kernel/panic") ? "0\n" : kernel[path.slice("/proc/sys/".length)];
    const kernel: Record<string, string> = {
      "vm/overcommit_memory": "1",
      "vm/panic_on_oom": "0",
      "kernel/panic_on_oops": "1",
      "kernel/keys/root_maxkeys": "1000000",
      "kernel/keys/root_maxbytes": "25000000",
    };
    const check = (protectKernelDefaults: boolean) =>
      settleProcess({ protectKernelDefaults }, async (path) => (await read(path)) ?? "");
    await check(false);
    await expect(check(true)).rejects.toThrow("invalid kernel flag: kernel/panic, expected value: 10, actual value: 0");
  });

  it("systemd is asked for a slice, which may be there already", async () => {
    const calls: string[] = [];
    const make = sliceMaker(async (program, args) => void calls.push([program, ...args].join(" ")));
    await make("/kubepods.slice/kubepods-burstable.slice");
    expect(calls[0]).toContain("StartTransientUnit ssa(sv)a(sa(sv)) kubepods-burstable.slice fail 5");
    await sliceMaker(() => Promise.reject(new Error("Unit x.slice already exists.")))("/x.slice");
    await expect(sliceMaker(() => Promise.reject(new Error("no bus")))("/x.slice")).rejects.toThrow("no bus");
  });
});
