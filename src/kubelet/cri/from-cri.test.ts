import { describe, expect, it } from "vitest";
import {
  fromContainer,
  fromContainerStats,
  fromContainerStatus,
  fromEvent,
  fromImage,
  fromPodSandboxStatus,
  fromRuntimeStatus,
} from "./from-cri.ts";
import type { CriMessage } from "./messages.ts";

const spec = { image: "sha256:1", annotations: {}, userSpecifiedImage: "", runtimeHandler: "" };

const status: CriMessage<"ContainerStatus"> = {
  id: "c1",
  metadata: { name: "main", attempt: 2 },
  state: 2,
  createdAt: "1794753378436000001",
  startedAt: "1794753378545999999",
  finishedAt: "0",
  exitCode: 137,
  image: spec,
  imageRef: "sha256:1",
  reason: "OOMKilled",
  message: "",
  labels: { a: "b" },
  annotations: {},
  mounts: [
    {
      containerPath: "/a",
      hostPath: "/b",
      readonly: false,
      propagation: 1,
      uidMappings: [],
      gidMappings: [],
      recursiveReadOnly: false,
    },
  ],
  logPath: "/logs/0.log",
  resources: null,
  user: null,
};

describe("fromContainerStatus", () => {
  it("has times in milliseconds and the given sandbox", () => {
    expect(fromContainerStatus(status, "s1")).toEqual({
      id: "c1",
      podSandboxId: "s1",
      metadata: { name: "main", attempt: 2 },
      state: "exited",
      image: "sha256:1",
      imageRef: "sha256:1",
      createdAtMs: 1794753378436,
      startedAtMs: 1794753378545,
      finishedAtMs: 0,
      exitCode: 137,
      reason: "OOMKilled",
      message: "",
      labels: { a: "b" },
      annotations: {},
      mounts: [{ containerPath: "/a", hostPath: "/b", readonly: false, propagation: "hostToContainer" }],
      logPath: "/logs/0.log",
    });
  });

  it("has user and resources if the runtime reports them; 0 is not set", () => {
    const linux = {
      cpuPeriod: "100000",
      cpuQuota: "-1",
      cpuShares: "0",
      memoryLimitInBytes: "52428800",
      oomScoreAdj: "0",
      cpusetCpus: "",
      cpusetMems: "0",
      hugepageLimits: [],
      unified: {},
      memorySwapLimitInBytes: "0",
    };
    const user = { linux: { uid: "1000", gid: "1000", supplementalGroups: ["5"] } };
    expect(fromContainerStatus({ ...status, resources: { linux }, user }, "s1")).toMatchObject({
      resources: { cpuPeriod: 100000, cpuQuota: -1, memoryLimitBytes: 52428800, cpusetMems: "0" },
      user: { uid: 1000, gid: 1000, supplementalGroups: [5] },
    });
  });

  it.each([
    [0, "created"],
    [1, "running"],
    [2, "exited"],
    [3, "unknown"],
    [9, "unknown"],
  ])("state %i is %s", (state, want) => {
    expect(fromContainerStatus({ ...status, state }, "s1").state).toBe(want);
  });

  it("shows the image as its user named it, where the runtime remembers", () => {
    const image = { ...spec, userSpecifiedImage: "busybox:1" };
    expect(fromContainer({ ...status, podSandboxId: "s1", image }).image).toBe("busybox:1");
  });
});

describe("fromPodSandboxStatus", () => {
  const sandbox: CriMessage<"PodSandboxStatus"> = {
    id: "s1",
    metadata: { name: "web", uid: "u", namespace: "default", attempt: 0 },
    state: 0,
    createdAt: "1000000",
    network: { ip: "10.244.0.2", additionalIps: [{ ip: "fd00::2" }] },
    labels: {},
    annotations: {},
    runtimeHandler: "",
  };

  it.each([
    ["both families", sandbox.network, ["10.244.0.2", "fd00::2"]],
    ["the node's network", { ip: "", additionalIps: [] }, []],
    ["no network", null, []],
  ])("%s", (_name, network, want) => {
    expect(fromPodSandboxStatus({ ...sandbox, network })).toMatchObject({ state: "ready", createdAtMs: 1, ips: want });
  });

  it("is not ready in any other state", () => {
    expect(fromPodSandboxStatus({ ...sandbox, state: 1 }).state).toBe("notReady");
  });
});

describe("the rest", () => {
  it("statistics that are absent are 0", () => {
    const cpu = { timestamp: "2000000", usageCoreNanoSeconds: { value: "19793921" } };
    expect(fromContainerStats({ attributes: null, cpu, memory: null, writableLayer: null })).toEqual({
      id: "",
      labels: {},
      timestampMs: 2,
      cpuCoreNanoSeconds: 19793921,
      memoryWorkingSetBytes: 0,
      memoryUsageBytes: 0,
      memoryRssBytes: 0,
      writableLayerBytes: 0,
      writableLayerInodes: 0,
    });
  });

  it.each([
    ["a number", { uid: { value: "0" }, username: "" }, { uid: 0 }],
    ["a name", { uid: null, username: "nobody" }, { username: "nobody" }],
    ["nobody", { uid: null, username: "" }, {}],
  ])("an image's user is %s", (_name, user, want) => {
    const image = { id: "i", repoTags: ["a:1"], repoDigests: [], size: "12", pinned: true, ...user };
    expect(fromImage(image)).toEqual({
      id: "i",
      repoTags: ["a:1"],
      repoDigests: [],
      sizeBytes: 12,
      pinned: true,
      ...want,
    });
  });

  it("an event of a kind that is not known is none", () => {
    expect(fromEvent({ containerId: "c", type: 2, podSandboxStatus: null })).toEqual({
      type: "stopped",
      containerId: "c",
    });
    expect(fromEvent({ containerId: "c", type: 17, podSandboxStatus: null })).toBeUndefined();
  });

  it("handlers are reported only by runtimes that know them", () => {
    const able = { name: "", features: { recursiveReadOnlyMounts: true, userNamespaces: true } };
    const told = {
      status: { conditions: [] },
      info: {},
      runtimeHandlers: [{ name: "runc", features: null }, able],
      features: { supplementalGroupsPolicy: true },
    };
    expect(fromRuntimeStatus(told)).toEqual({
      conditions: [],
      handlers: [{ name: "runc" }, { name: "", recursiveReadOnlyMounts: true, userNamespaces: true }],
      features: { supplementalGroupsPolicy: true },
    });
    const silent = { status: null, info: {}, runtimeHandlers: [], features: null };
    expect(fromRuntimeStatus(silent)).toEqual({ conditions: [] });
  });
});
