import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { MetricsRegistry, VirtualClock } from "#base";
import type { TopologyPolicy } from "./affinity.ts";
import { readCpuCheckpoint, readMemoryCheckpoint, writeCpuCheckpoint, writeMemoryCheckpoint } from "./checkpoints.ts";
import { CpuManager } from "./cpu-manager.ts";
import { checkCpuOptions, readCpuOptions } from "./cpu-options.ts";
import { cpuSetText, parseCpuSet } from "./cpu-set.ts";
import type { HintProvider } from "./hints.ts";
import { type MachineTopology, numaNodesOf, readTopology } from "./machine-topology.ts";
import { MemoryManager } from "./memory-manager.ts";
import { machineOf } from "./testing/machines.ts";
import { TopologyManager, type TopologyScope } from "./topology-manager.ts";
import { topologyMetrics } from "./topology-metrics.ts";
import { checkNumaNodes, readTopologyOptions } from "./topology-options.ts";

const ON = () => true;
const ONE = machineOf({ sockets: 1, coresPerNuma: 4, threads: 2 });
const TWO = machineOf({ sockets: 2, coresPerNuma: 4, memoryPerNuma: 1000, hugePages: new Map([[2048, 2]]) });

interface Wanted {
  readonly cpu: string;
  readonly memory?: string;
  readonly name?: string;
  readonly init?: boolean;
}

function pod(uid: string, ...wanted: readonly Wanted[]): core.Pod {
  const containers = wanted.map(({ cpu, memory = "1", name }, at) => {
    const amounts = { cpu, memory };
    return { name: name ?? `c${at}`, image: "img", resources: { requests: amounts, limits: amounts } };
  });
  const isInit = (at: number) => wanted[at]?.init === true;
  return {
    metadata: { uid, name: uid, namespace: "default" },
    spec: {
      initContainers: containers.filter((_, at) => isInit(at)),
      containers: containers.filter((_, at) => !isInit(at)),
    },
  };
}

interface Setup {
  readonly machine?: MachineTopology;
  readonly policy?: TopologyPolicy;
  readonly scope?: TopologyScope;
  readonly options?: Readonly<Record<string, string>>;
  readonly reserved?: number | ReadonlySet<number>;
  readonly stored?: string;
  readonly others?: readonly HintProvider[];
  readonly withMemory?: boolean;
}

function managed(setup: Setup = {}) {
  const { machine = ONE, policy = "none", scope = "container", options = {}, reserved = 1, stored, others } = setup;
  const file = "/var/lib/kubelet/cpu_manager_state";
  const cpus = new CpuManager({
    topology: machine,
    reserved,
    options: readCpuOptions(options, ON),
    stored: stored === undefined ? undefined : { file, text: stored },
  });
  const files = new Map<string, string>();
  const clock = new VirtualClock();
  const metrics = new MetricsRegistry();
  const memory = setup.withMemory === true ? new MemoryManager({ topology: machine, reserved: [] }) : undefined;
  const manager = new TopologyManager({
    policy,
    scope,
    numa: { nodes: numaNodesOf(machine) },
    cpus,
    memory,
    others,
    save: async (name, text) => void files.set(name, text),
    metrics: topologyMetrics(metrics, clock),
    clock,
  });
  const cpusOf = (uid: string, name = "c0") => cpuSetText(manager.placementOf(uid, name).cpus ?? []);
  return { manager, cpus, memory, files, metrics, cpusOf, shared: () => cpuSetText(cpus.shared) };
}

describe("exclusive CPUs", () => {
  it("are those of Guaranteed Pods that ask for whole ones; others share what is left", async () => {
    const { manager, cpusOf, shared, files } = managed();
    expect(shared()).toBe("0-7");
    expect(await manager.admit(pod("a", { cpu: "2" }))).toBeUndefined();
    expect([cpusOf("a"), shared()]).toEqual(["1,5", "0,2-4,6-7"]);
    expect(await manager.admit(pod("b", { cpu: "1500m" }))).toBeUndefined();
    expect(cpusOf("b")).toBe("0,2-4,6-7");
    const burstable = { ...pod("c"), spec: { containers: [{ name: "c0", resources: { requests: { cpu: "2" } } }] } };
    expect(await manager.admit(burstable)).toBeUndefined();
    expect(manager.placementOf("c", "c0").isExclusive).toBe(false);
    expect(JSON.parse(files.get("cpu") ?? "")).toMatchObject({
      policyName: "static",
      defaultCpuSet: "0,2-4,6-7",
      entries: { a: { c0: "1,5" } },
    });
    await manager.release("a");
    expect(shared()).toBe("0-7");
  });

  it("of an init container are given to the containers after it", async () => {
    const { manager, cpusOf, shared } = managed();
    const both = pod("a", { cpu: "4", name: "first", init: true }, { cpu: "2" });
    expect(await manager.admit(both)).toBeUndefined();
    expect([cpusOf("a", "first"), cpusOf("a", "c1"), shared()]).toEqual(["1-2,5-6", "1,5", "0,3-4,7"]);
  });

  it.each<{ readonly name: string; readonly setup?: Setup; readonly cpu: string; readonly want: object | undefined }>([
    {
      name: "more than there are",
      cpu: "8",
      want: {
        reason: "UnexpectedAdmissionError",
        message:
          "Allocate failed due to not enough cpus available to satisfy request: requested=8, available=7, which is unexpected",
      },
    },
    {
      name: "half a core",
      setup: { options: { "full-pcpus-only": "true" } },
      cpu: "3",
      want: {
        reason: "SMTAlignmentError",
        message: "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2",
      },
    },
    {
      name: "a core that is partly reserved",
      setup: { options: { "full-pcpus-only": "true" } },
      cpu: "8",
      want: {
        reason: "SMTAlignmentError",
        message:
          "SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 6, requested CPUs = 8, CPUs per core = 2",
      },
    },
    {
      name: "more than a NUMA node has",
      setup: { machine: TWO, policy: "single-numa-node" },
      cpu: "5",
      want: { reason: "TopologyAffinityError", message: "Resources cannot be allocated with Topology locality" },
    },
    { name: "the same, on two nodes", setup: { machine: TWO, policy: "restricted" }, cpu: "5", want: undefined },
  ])("$name", async ({ setup, cpu, want }) => {
    const { manager, cpus } = managed(setup);
    expect(await manager.admit(pod("a", { cpu }))).toEqual(want);
    // What a rejected Pod had is free again.
    if (want !== undefined) expect(cpus.exclusive.size).toBe(0);
  });

  it("come from the node that a device is on", async () => {
    const seen: unknown[] = [];
    const device: HintProvider = {
      name: "devices",
      hintsForContainer: () => new Map([["vendor.com/nic", [{ affinity: new Set([1]), preferred: true }]]]),
      hintsForPod: () => new Map(),
      allocate: async (_, { name }, { affinity }) => {
        seen.push([name, affinity]);
        return name === "bad" ? "the device is gone" : undefined;
      },
      release: (uid) => seen.push(uid),
    };
    const { manager, cpusOf, metrics } = managed({ machine: TWO, policy: "restricted", others: [device] });
    expect(await manager.admit(pod("a", { cpu: "2" }))).toBeUndefined();
    expect([cpusOf("a"), seen]).toEqual(["4-5", [["c0", new Set([1])]]]);
    expect((await manager.admit(pod("b", { cpu: "1", name: "bad" })))?.message).toBe(
      "Allocate failed due to the device is gone, which is unexpected",
    );
    expect(seen.at(-1)).toBe("b");
    expect(metrics.text()).toContain("kubelet_topology_manager_admission_requests_total 2\n");
    expect(metrics.text()).toContain("kubelet_topology_manager_admission_errors_total 1\n");
    expect(metrics.text()).toContain("kubelet_cpu_manager_pinning_requests_total 2\n");
    expect(metrics.text()).toContain('kubelet_cpu_manager_allocation_per_numa{numa_node="1"} 2\n');
  });

  it("of a whole Pod lie together in the scope of Pods", async () => {
    const two = pod("a", { cpu: "3" }, { cpu: "3" });
    const byContainer = managed({ machine: TWO, policy: "single-numa-node", reserved: new Set([7]) });
    expect(await byContainer.manager.admit(two)).toBeUndefined();
    const byPod = managed({ machine: TWO, policy: "single-numa-node", scope: "pod", reserved: new Set([7]) });
    expect((await byPod.manager.admit(two))?.reason).toBe("TopologyAffinityError");
    expect(await byPod.manager.admit(pod("b", { cpu: "2" }, { cpu: "2" }))).toBeUndefined();
    expect([byPod.cpusOf("b", "c0"), byPod.cpusOf("b", "c1")]).toEqual(["0-1", "2-3"]);
  });

  it("reserved ones are shared unless they are strictly reserved", () => {
    expect(managed({ reserved: new Set([0, 4]) }).shared()).toBe("0-7");
    expect(managed({ reserved: new Set([0, 4]), options: { "strict-cpu-reservation": "true" } }).shared()).toBe(
      "1-3,5-7",
    );
    expect(() => managed({ reserved: new Set([9]) })).toThrow("unable to reserve the required amount of CPUs");
  });

  it("survive a restart", async () => {
    const before = managed();
    await before.manager.admit(pod("a", { cpu: "2" }));
    const after = managed({ stored: before.files.get("cpu") ?? "" });
    expect(await after.manager.admit(pod("a", { cpu: "2" }))).toBeUndefined();
    expect([after.cpusOf("a"), after.shared()]).toEqual([before.cpusOf("a"), before.shared()]);
  });

  const state = (defaultCpuSet: string, entries = {}, policyName = "static") =>
    writeCpuCheckpoint({ policyName, defaultCpuSet, entries });
  it.each([
    [
      "another policy",
      state("", {}, "none"),
      'configured policy "static" differs from state checkpoint policy "none", please drain this node and delete',
    ],
    ["fewer CPUs", state("0-3"), 'current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-3"'],
    [
      "reserved ones taken",
      state("1-7", { a: { c: "0" } }),
      'not all reserved cpus: "0" are present in defaultCpuSet: "1-7"',
    ],
    ["twice", state("0-7", { a: { c: "3" } }), 'pod: a, container: c cpuset: "3" overlaps with default cpuset "0-7"'],
    ["no shared ones", state("", { a: { c: "0-7" } }), "default cpuset cannot be empty"],
    ["no CPUs", state("x"), 'could not parse default cpu set "x": strconv.Atoi: parsing "x": invalid syntax'],
    ["changed by hand", state("0-7").replace("0-7", "0-6"), "checkpoint is corrupted"],
    ["no JSON", "{", "checkpoint is corrupted"],
  ])("a stored state is refused: %s", (_, stored, problem) => expect(() => managed({ stored })).toThrow(problem));
});

describe("memory of NUMA nodes", () => {
  const amounts = { cpu: "1", memory: "600" };

  it("is of one node while that holds it, then of another", async () => {
    const { manager, memory, files } = managed({ machine: TWO, policy: "single-numa-node", withMemory: true });
    const MI = 2 * 2048 * 1024;
    expect(memory?.checkpoint()).toContain(`"hugepages-2Mi":{"total":${MI}`);
    // Huge pages leave nothing of 1000 bytes.
    expect((await manager.admit(pod("a", amounts)))?.reason).toBe("TopologyAffinityError");
    const plain = machineOf({ sockets: 2, coresPerNuma: 4, memoryPerNuma: 1000 });
    const other = managed({ machine: plain, policy: "single-numa-node", withMemory: true });
    for (const uid of ["a", "b"]) expect(await other.manager.admit(pod(uid, amounts))).toBeUndefined();
    expect(other.manager.placementOf("a", "c0").numaNodes).toEqual(new Set([0]));
    expect(other.manager.placementOf("b", "c0").numaNodes).toEqual(new Set([1]));
    expect((await other.manager.admit(pod("c", amounts)))?.reason).toBe("TopologyAffinityError");
    await other.manager.release("a");
    expect(await other.manager.admit(pod("c", amounts))).toBeUndefined();
    const stored = { file: "memory_manager_state", text: other.files.get("memory") ?? "" };
    const again = new MemoryManager({ topology: plain, reserved: [], stored });
    expect(again.checkpoint()).toBe(stored.text);
    expect(() => new MemoryManager({ topology: TWO, reserved: [], stored })).toThrow(
      "the expected machine state is different from the real one",
    );
    expect(files.size).toBe(2);
  });

  it("of two nodes that serve a Pod together is nobody else's alone", async () => {
    const machine = machineOf({ sockets: 2, coresPerNuma: 4, memoryPerNuma: 1000 });
    const { manager } = managed({ machine, policy: "restricted", withMemory: true });
    expect(await manager.admit(pod("wide", { cpu: "1", memory: "1500" }))).toBeUndefined();
    expect(manager.placementOf("wide", "c0").numaNodes).toEqual(new Set([0, 1]));
    expect((await manager.admit(pod("b", { cpu: "1", memory: "100" })))?.reason).toBe("TopologyAffinityError");
  });
});

describe("state files", () => {
  it("have upstream's checksums", () => {
    const cpus = {
      policyName: "none",
      defaultCpuSet: "1-3",
      entries: { pod: { container1: "4-6", container2: "1-3" } },
    };
    expect(JSON.parse(writeCpuCheckpoint(cpus)).checksum).toBe(3610638499);
    expect(JSON.parse(writeCpuCheckpoint({ policyName: "none", defaultCpuSet: "4-6", entries: {} })).checksum).toBe(
      354655845,
    );
    expect(readCpuCheckpoint(writeCpuCheckpoint(cpus), "f")).toEqual(cpus);
    const table = { total: 2048, systemReserved: 512, allocatable: 1536, reserved: 512, free: 1024 };
    const memory = {
      policyName: "static",
      machineState: { "0": { numberOfAssignments: 0, memoryMap: { memory: table }, cells: [] } },
      entries: { pod: { container1: [{ numaAffinity: [0], type: "memory", size: 512 }] } },
    };
    expect(JSON.parse(writeMemoryCheckpoint(memory)).checksum).toBe(4215593881);
    expect(readMemoryCheckpoint(writeMemoryCheckpoint(memory), "f")).toEqual(memory);
    expect(() => readMemoryCheckpoint('{"policyName":"Static","checksum":1}', "f")).toThrow("checkpoint is corrupted");
  });
});

describe("options", () => {
  const none = (gate: string) => !gate.endsWith("AlphaOptions");
  it.each([
    [{ other: "true" }, 'unknown CPU Manager Policy option: "other"'],
    [
      { "align-by-socket": "true" },
      'CPU Manager Policy Alpha-level Options not enabled, but option "align-by-socket" provided',
    ],
    [
      { "full-pcpus-only": "maybe" },
      'bad value for option "full-pcpus-only": strconv.ParseBool: parsing "maybe": invalid syntax',
    ],
    [
      { "prefer-align-cpus-by-uncorecache": "true", "distribute-cpus-across-numa": "true" },
      "static policy options prefer-align-cpus-by-uncorecache and distribute-cpus-across-numa can not be used at the same time",
    ],
  ])("of the CPU manager: %j", (given, problem) => expect(() => readCpuOptions(given, none)).toThrow(problem));

  it.each([
    [{ other: "true" }, 'unknown Topology Manager Policy option: "other"'],
    [{ "max-allowable-numa-nodes": "4" }, 'the minimum value of "max-allowable-numa-nodes" should not be less than 8'],
    [{ "max-allowable-numa-nodes": "x" }, 'unable to convert policy option to integer "max-allowable-numa-nodes"'],
  ])("of the topology manager: %j", (given, problem) => expect(() => readTopologyOptions(given, ON)).toThrow(problem));

  it("that the machine does not allow", () => {
    const many = machineOf({ sockets: 9, coresPerNuma: 1 });
    expect(() => checkNumaNodes("restricted", many, readTopologyOptions({}, ON))).toThrow("more than 8 NUMA Nodes");
    checkNumaNodes("restricted", many, readTopologyOptions({ "max-allowable-numa-nodes": "9" }, ON));
    const aligned = readCpuOptions({ "align-by-socket": "true" }, ON);
    expect(() => checkCpuOptions(aligned, TWO, "single-numa-node")).toThrow("incompatible");
  });
});

describe("a machine", () => {
  const files: Record<string, string> = {
    "cpu/online": "0-3\n",
    "node/online": "0-1\n",
    "node/node0/cpulist": "0,2\n",
    "node/node1/cpulist": "1,3\n",
    "node/node0/meminfo": "Node 0 MemTotal:       16 kB\n",
    "node/node0/distance": "10 21\n",
    "node/node0/hugepages": "hugepages-1048576kB hugepages-2048kB",
    "node/node0/hugepages/hugepages-2048kB/nr_hugepages": "3\n",
    "cpu/cpu2/topology/thread_siblings_list": "0,2\n",
    "cpu/cpu3/topology/thread_siblings_list": "1,3\n",
    "cpu/cpu3/topology/physical_package_id": "1\n",
    "cpu/cpu2/cache/index3/shared_cpu_list": "0,2\n",
  };

  it("is read from /sys", async () => {
    const { cpus, nodes } = await readTopology(async (path) => files[path] ?? "", { cpus: 1, memoryBytes: 5 });
    expect(cpus.get(2)).toEqual({ id: 2, core: 0, socket: 0, numa: 0, uncoreCache: 0 });
    expect(cpus.get(3)).toEqual({ id: 3, core: 1, socket: 1, numa: 1, uncoreCache: 1 });
    expect(nodes[0]).toMatchObject({
      id: 0,
      memoryBytes: 16384,
      hugePages: new Map([
        [2048, 3],
        [1048576, 0],
      ]),
    });
    expect(nodes[0]?.distances.get(1)).toBe(21);
  });

  it("without such files has one node", async () => {
    const { cpus, nodes } = await readTopology(async () => "", { cpus: 2, memoryBytes: 5 });
    expect([cpus.size, nodes.length, nodes[0]?.memoryBytes]).toEqual([2, 1, 5]);
  });

  it("numbers its CPUs as Linux does", () => {
    expect(cpuSetText(parseCpuSet("3,0-1,1"))).toBe("0-1,3");
    expect(() => parseCpuSet("3-1")).toThrow('invalid range "3-1" (3 > 1)');
  });
});
