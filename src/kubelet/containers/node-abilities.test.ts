/** What a node adds to containers: cgroups by driver, swap, huge pages, memory QoS, users, recursive mounts, groups. */
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import type { RuntimeHandler, UserNamespace } from "../runtime/runtime.ts";
import { type CgroupLayout, cgroupParent, podCgroup, podUidOf } from "./cgroup-names.ts";
import { containerMounts } from "./mounts.ts";
import { PLAIN_RULES, type ResourceRules } from "./resource-rules.ts";
import { containerResources, podResources } from "./resources.ts";
import { podSandboxConfig } from "./sandbox-config.ts";
import { containerSecurity } from "./security.ts";

const GIB = 1024 ** 3;
const APP: core.Container = { name: "app", image: "app:1" };
const podOf = (resources: core.ResourceRequirements = {}, spec: Partial<core.PodSpec> = {}): core.Pod => ({
  metadata: { name: "web", namespace: "shop", uid: "a-b" },
  spec: { containers: [{ ...APP, resources }], ...spec },
});
const BURSTABLE = { requests: { memory: "2Gi" }, limits: { memory: "4Gi" } };
const FIXED = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } };

describe("cgroups", () => {
  it.each<[string, CgroupLayout, core.ResourceRequirements, string, string]>([
    [
      "slices of systemd",
      { root: "/", driver: "systemd", perQos: true },
      {},
      "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-poda_b.slice",
      "kubepods-besteffort-poda_b.slice",
    ],
    [
      "a Guaranteed Pod's slice",
      { root: "/", driver: "systemd", perQos: true },
      FIXED,
      "/kubepods.slice/kubepods-poda_b.slice",
      "kubepods-poda_b.slice",
    ],
    [
      "without QoS classes",
      { root: "/node", driver: "cgroupfs", perQos: false },
      BURSTABLE,
      "/node/poda-b",
      "/node/poda-b",
    ],
  ])("%s", (_, layout, resources, path, parent) => {
    const pod = podOf(resources);
    expect([podCgroup(layout, pod), cgroupParent(layout, pod)]).toEqual([path, parent]);
    expect(podUidOf(layout, path.slice(path.lastIndexOf("/") + 1))).toBe("a-b");
    expect(podUidOf(layout, "kubepods-burstable.slice")).toBeUndefined();
  });
});

describe("resources", () => {
  const TWO: ResourceRules = { ...PLAIN_RULES, cgroupVersion: 2, singleProcessOomKill: false };
  const swap = { behavior: "LimitedSwap", totalBytes: 4 * GIB } as const;
  const of = (resources: core.ResourceRequirements, rules: ResourceRules, spec: Partial<core.PodSpec> = {}) => {
    const pod = podOf(resources, spec);
    const container = pod.spec?.containers[0] ?? APP;
    return containerResources(pod, container, { memoryCapacityBytes: 8 * GIB, rules });
  };

  it.each<[string, core.ResourceRequirements, Partial<ResourceRules>, object]>([
    ["processes that are killed together", {}, {}, { "memory.oom.group": "1" }],
    ["one by one", {}, { singleProcessOomKill: true }, undefined as unknown as object],
    [
      "a quarter of the memory: a quarter of the swap",
      BURSTABLE,
      { swap },
      { "memory.oom.group": "1", "memory.swap.max": String(GIB) },
    ],
    ["no swap for Guaranteed Pods", FIXED, { swap }, { "memory.oom.group": "1", "memory.swap.max": "0" }],
    ["no swap for BestEffort Pods", {}, { swap }, { "memory.oom.group": "1", "memory.swap.max": "0" }],
    [
      "no swap at all",
      BURSTABLE,
      { swap: { ...swap, behavior: "NoSwap" } },
      { "memory.oom.group": "1", "memory.swap.max": "0" },
    ],
    [
      "memory is throttled before its limit, and what was asked for is kept",
      BURSTABLE,
      { memoryQos: { throttlingFactor: 0.5, reservation: "TieredReservation", allocatableBytes: 8 * GIB } },
      { "memory.oom.group": "1", "memory.high": String(3 * GIB), "memory.low": String(2 * GIB) },
    ],
    [
      "a Guaranteed Pod's memory is never reclaimed",
      FIXED,
      { memoryQos: { throttlingFactor: 0.9, reservation: "TieredReservation", allocatableBytes: 8 * GIB } },
      { "memory.oom.group": "1", "memory.min": String(GIB) },
    ],
  ])("%s", (_, resources, rules, want) => expect(of(resources, { ...TWO, ...rules }).unified).toEqual(want));

  it("critical Pods have no swap", () =>
    expect(of(BURSTABLE, { ...TWO, swap }, { priority: 2_000_000_000 }).unified).toMatchObject({
      "memory.swap.max": "0",
    }));

  it("on v1 memory and swap have one limit", () =>
    expect(of(BURSTABLE, { ...PLAIN_RULES, swap }).memorySwapLimitBytes).toBe(4 * GIB));

  it("huge pages are limited for every size that the machine has", () => {
    const resources = { limits: { "hugepages-2Mi": "4Mi", memory: "1Gi" } };
    expect(of(resources, { ...PLAIN_RULES, hugePageKib: [2048, 1024 ** 2] }).hugepageLimits).toEqual([
      { pageSize: "2MB", limit: 4 * 1024 ** 2 },
      { pageSize: "1GB", limit: 0 },
    ]);
  });

  it("CPU limits may be off, or have another period", () => {
    expect(of(FIXED, { ...PLAIN_RULES, cpuQuota: false })).not.toHaveProperty("cpuQuota");
    expect(of(FIXED, { ...PLAIN_RULES, cpuPeriodUs: 10_000 })).toMatchObject({ cpuPeriod: 10_000, cpuQuota: 10_000 });
    expect(podResources(podOf(FIXED), { rules: { ...PLAIN_RULES, cpuQuota: false } })).not.toHaveProperty("cpuQuota");
  });

  it("a container with CPUs for itself has no quota", () => {
    const pod = podOf(FIXED);
    const container = pod.spec?.containers[0] ?? APP;
    const placement = { cpus: "2-3", mems: "0", isExclusive: true };
    const given = containerResources(pod, container, { memoryCapacityBytes: GIB, placement });
    expect(given).toMatchObject({ cpusetCpus: "2-3", cpusetMems: "0", cpuShares: 1024 });
    expect(given).not.toHaveProperty("cpuQuota");
    expect(podResources(pod, { hasExclusiveCpus: true })).not.toHaveProperty("cpuQuota");
  });
});

describe("what the runtime offers", () => {
  const ids = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
  const users: UserNamespace = { mode: "POD", uids: ids, gids: ids };
  const paths = { volumes: new Map([["data", { path: "/host/data" }]]), subPaths: new Map<number, string>() };
  const able: RuntimeHandler = { name: "", recursiveReadOnlyMounts: true, userNamespaces: true };
  const mounts = (about: Partial<core.VolumeMount>, isAble = able.recursiveReadOnlyMounts) =>
    containerMounts({ ...APP, volumeMounts: [{ name: "data", mountPath: "/d", ...about }] }, paths, {
      recursiveReadOnly: isAble,
    })[0];

  it.each<[Partial<core.VolumeMount>, boolean, true | undefined | string]>([
    [{ readOnly: true, recursiveReadOnly: "Enabled" }, true, true],
    [{ readOnly: true, recursiveReadOnly: "IfPossible" }, true, true],
    [{ readOnly: true, recursiveReadOnly: "IfPossible" }, false, undefined],
    [{ readOnly: true, recursiveReadOnly: "Disabled" }, true, undefined],
    [{ recursiveReadOnly: "Enabled" }, true, "it is not read-only"],
    [{ readOnly: true, recursiveReadOnly: "Enabled" }, false, "it is not supported by the runtime"],
    [
      { readOnly: true, recursiveReadOnly: "Enabled", mountPropagation: "HostToContainer" },
      true,
      'it is not compatible with propagation "HostToContainer"',
    ],
  ])("a mount that is read-only below, too: %j, %s", (about, isAble, want) => {
    if (typeof want === "string") expect(() => mounts(about, isAble)).toThrow(want);
    else expect(mounts(about, isAble)?.recursiveReadOnly).toBe(want);
  });

  it("users of its own are those of the sandbox, the container and its mounts", () => {
    const facts = {
      nodeName: "n",
      nodeIps: [],
      allocatable: {},
      memoryCapacityBytes: GIB,
      clusterDns: [],
      clusterDomain: "c",
      resolver: { servers: [], searches: [], options: [] },
      cgroupRoot: "/",
      seccompRoot: "/",
      seccompDefault: false,
      podLogsRoot: "/",
    };
    const pod = podOf({}, { hostUsers: false, securityContext: { supplementalGroupsPolicy: "Strict" } });
    const { linux } = podSandboxConfig(pod, 0, facts, users);
    expect(linux).toMatchObject({ namespaces: { users }, supplementalGroupsPolicy: "Strict" });
    const own = containerSecurity(pod, APP, {}, { seccompRoot: "/", seccompDefault: false, users });
    expect(own).toMatchObject({ namespaces: { users }, supplementalGroupsPolicy: "Strict" });
    const [mount] = containerMounts({ ...APP, volumeMounts: [{ name: "data", mountPath: "/d" }] }, paths, { users });
    expect(mount).toMatchObject({ uidMappings: ids, gidMappings: ids });
  });
});
