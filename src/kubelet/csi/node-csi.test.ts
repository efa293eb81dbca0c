/** A node's side of CSI with a driver behind real sockets and an API in memory. */
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type core, kinds, parseFeatures, type storage } from "#api";
import { MetricsRegistry, realClock, seededRandom, silentLogger, TaskGroup } from "#base";
import { Client, inProcess } from "#client";
import { GrpcError } from "#grpc";
import { NodeRpc, UsageUnit } from "#storage/csi";
import { type TestServer, testServer } from "../../apiserver/testing/index.ts";
import { type NodeCsi, type NodeCsiOptions, nodeCsi } from "./node-csi.ts";
import { attachmentName, stagedDirectory } from "./paths.ts";
import { type ScriptedDriver, type ScriptedDriverOptions, scriptedDriver } from "./testing/scripted-driver.ts";

const DRIVER = "disk.example.com";
const NODE = "node-1";
const { signal } = new AbortController();

let root: string;
let server: TestServer;
let client: Client;
let tasks: TaskGroup;
let csi: NodeCsi;
let driver: ScriptedDriver;
let changes: number;
let metrics: MetricsRegistry;
let told: string[];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "k8ts-csi-"));
  server = await testServer();
  client = new Client({
    transport: inProcess(server.handle, { name: `system:node:${NODE}`, groups: ["system:masters"] }),
    clock: server.clock,
  });
  await client.of(kinds.Node).create({ metadata: { name: NODE } });
  await startKubelet();
});
afterEach(async () => {
  await tasks.stop();
  await driver?.[Symbol.asyncDispose]();
  await client.close();
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

async function startKubelet(more: Partial<NodeCsiOptions> = {}): Promise<void> {
  tasks = new TaskGroup();
  changes = 0;
  metrics = new MetricsRegistry();
  told = [];
  csi = await nodeCsi({
    root,
    nodeName: NODE,
    client,
    clock: realClock(),
    random: seededRandom(1),
    log: silentLogger,
    metrics,
    recorder: { record: ({ about, reason, note }) => void told.push(`${about.kind} ${reason} ${note}`) },
    features: parseFeatures({ gates: "CSIVolumeHealth=true" }),
    ...more,
    onChange: () => {
      changes++;
      // As the Node's status reports it.
      csi.onNode({ metadata: {}, status: { volumesInUse: csi.inUse() } });
    },
  });
  tasks.run("csi", (running) => csi.run(running));
}

async function startDriver(options: Partial<ScriptedDriverOptions> = {}): Promise<void> {
  driver = await scriptedDriver({ name: DRIVER, dir: root, registry: join(root, "plugins_registry"), ...options });
  await vi.waitFor(() => expect(driver.answers.length).toBeGreaterThan(0), { timeout: 10_000 });
}

const driverObject = (spec: storage.CSIDriverSpec) =>
  client.of(kinds.CSIDriver).create({ metadata: { name: DRIVER }, spec });
const podOf = (uid: string): core.Pod => ({
  metadata: { name: `pod-${uid}`, namespace: "default", uid },
  spec: { containers: [], serviceAccountName: "default" },
});
const volumeOf = (spec: Partial<core.PersistentVolumeSpec> = {}): core.PersistentVolume => ({
  metadata: { name: "pv-1" },
  spec: {
    accessModes: ["ReadWriteOnce"],
    capacity: { storage: "2Gi" },
    csi: { driver: DRIVER, volumeHandle: "vol-1", volumeAttributes: { a: "b" } },
    ...spec,
  },
});
const mount = (uid: string, more: object = {}) =>
  csi.volumes.mount(
    { pod: podOf(uid), volume: { name: "data" }, persistentVolume: volumeOf(), readOnly: false, ...more },
    signal,
  );
const verbs = () => driver.calls.map(([verb]) => verb);

it("the folders that manifests of drivers mount are there before any driver", () => {
  for (const name of ["plugins", "plugins_registry", "pods"]) expect(existsSync(join(root, name))).toBe(true);
});

it("a node has a CSINode before it has drivers", async () => {
  const found = () => client.of(kinds.CSINode).get(NODE);
  await vi.waitFor(async () => expect((await found()).spec.drivers ?? []).toEqual([]));
  expect((await found()).metadata.ownerReferences?.[0]).toMatchObject({ kind: "Node", name: NODE });
});

describe("on a machine with SELinux", () => {
  const LABEL = "system_u:object_r:container_file_t:s0:c1,c2";
  const labelledPod = (uid: string, level: string): core.Pod => ({
    ...podOf(uid),
    spec: {
      securityContext: { seLinuxOptions: { level } },
      containers: [{ name: "c", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
    },
  });

  it("a volume is mounted with the label of its Pod, and not with another one at a time", async () => {
    await tasks.stop();
    await startKubelet({
      selinux: { fileLabel: "system_u:object_r:container_file_t:s0" },
      features: parseFeatures({ gates: "SELinuxMount=true" }),
    });
    await driverObject({ attachRequired: false, seLinuxMount: true });
    await startDriver();
    await mount("u1", { pod: labelledPod("u1", "s0:c1,c2") });
    const mountFlags = [`context="${LABEL}"`];
    expect(driver.calls).toMatchObject([
      ["stage", { volumeCapability: { mount: { mountFlags } } }],
      ["publish", { volumeCapability: { mount: { mountFlags } } }],
    ]);
    await expect(mount("u2", { pod: labelledPod("u2", "s0:c3,c4") })).rejects.toThrow(
      `conflicting SELinux labels of volume pv-1: "${LABEL}" and "${LABEL.replace("c1,c2", "c3,c4")}"`,
    );
    await mount("u3", { pod: labelledPod("u3", "s0:c1,c2") });
    await csi.volumes.unmount("u1", signal);
    await csi.volumes.unmount("u3", signal);
    await mount("u2", { pod: labelledPod("u2", "s0:c3,c4") });
    await csi.volumes.unmount("u2", signal);
  });
});

describe("a driver that registers", () => {
  it("is in the CSINode, its topology in the Node's labels, until its socket goes", async () => {
    await startDriver();
    expect(driver.answers).toEqual([""]);
    const { spec, metadata } = await client.of(kinds.CSINode).get(NODE);
    expect(spec.drivers).toEqual([
      { name: DRIVER, nodeID: "id-1", topologyKeys: ["example.com/rack"], allocatable: { count: 8 } },
    ]);
    expect(metadata.ownerReferences?.[0]).toMatchObject({ kind: "Node", name: NODE });
    const node = await client.of(kinds.Node).get(NODE);
    expect(node.metadata.labels).toEqual({ "example.com/rack": "r1" });
    expect(node.metadata.annotations).toEqual({ "csi.volume.kubernetes.io/nodeid": `{"${DRIVER}":"id-1"}` });
    await driver[Symbol.asyncDispose]();
    await vi.waitFor(async () => expect((await client.of(kinds.CSINode).get(NODE)).spec.drivers ?? []).toEqual([]), {
      timeout: 10_000,
    });
    expect((await client.of(kinds.Node).get(NODE)).metadata.annotations).toBeUndefined();
  });

  it("is told why it cannot be used", async () => {
    await startDriver({ versions: ["0.3.0"] });
    expect(driver.answers[0]).toBe(
      `RegisterPlugin error -- plugin registration failed with err: driver ${DRIVER} has no version that this kubelet speaks: 0.3.0 (1.x)`,
    );
  });

  it("is needed: a volume of another one is not mounted", async () => {
    await expect(mount("u1")).rejects.toThrow(`driver name ${DRIVER} not found in the list of registered CSI drivers`);
  });
});

describe("a persistent volume", () => {
  it("is staged once for the node, published for each Pod, and taken down in the other order", async () => {
    await driverObject({ attachRequired: false });
    await startDriver();
    const path = await mount("u1");
    expect(path).toBe(join(root, "pods/u1/volumes/kubernetes.io~csi/pv-1/mount"));
    const staging = join(stagedDirectory(root, DRIVER, "vol-1"), "globalmount");
    expect(driver.calls).toMatchObject([
      ["stage", { volumeId: "vol-1", stagingTargetPath: staging, volumeContext: { a: "b" } }],
      ["publish", { volumeId: "vol-1", stagingTargetPath: staging, targetPath: path, readonly: false }],
    ]);
    await mount("u1");
    expect(driver.calls).toHaveLength(2);
    await mount("u2");
    await csi.volumes.unmount("u1", signal);
    expect(verbs().slice(2)).toEqual(["stage", "publish", "unpublish"]);
    await csi.volumes.unmount("u2", signal);
    expect(verbs().slice(5)).toEqual(["unpublish", "unstage"]);
    expect(existsSync(stagedDirectory(root, DRIVER, "vol-1"))).toBe(false);
    expect(existsSync(join(root, "pods/u1/volumes/kubernetes.io~csi"))).toBe(false);
  });

  it("is published with every sync where the driver wants that, and staged as often", async () => {
    await driverObject({ attachRequired: false, requiresRepublish: true });
    await startDriver();
    await mount("u1");
    await mount("u1");
    expect(verbs().filter((verb) => verb === "publish")).toHaveLength(2);
  });

  it("waits until it is attached, is in use meanwhile, and passes on what the attacher says", async () => {
    await startDriver();
    const mounting = mount("u1");
    await vi.waitFor(() => expect(csi.inUse()).toEqual([`kubernetes.io/csi/${DRIVER}^vol-1`]));
    expect(verbs()).toEqual([]);
    const attachments = client.of(kinds.VolumeAttachment);
    const name = attachmentName(DRIVER, "vol-1", NODE);
    const source = { persistentVolumeName: "pv-1" };
    await attachments.create({ metadata: { name }, spec: { attacher: DRIVER, nodeName: NODE, source } });
    const object = { status: { attached: true, attachmentMetadata: { device: "sdb" } } };
    await attachments.subresource(name, "status").patch({ type: "merge", object });
    await mounting;
    expect(driver.calls[1]).toMatchObject(["publish", { publishContext: { device: "sdb" } }]);
    await csi.volumes.unmount("u1", signal);
    expect(csi.inUse()).toEqual([]);
    expect(changes).toBeGreaterThan(0);
  });

  it("is taken down by the next kubelet, which knows that it is in use", async () => {
    await driverObject({ attachRequired: false });
    await startDriver();
    await mount("u1");
    await tasks.stop();
    await startKubelet();
    expect(csi.inUse()).toEqual([`kubernetes.io/csi/${DRIVER}^vol-1`]);
    await vi.waitFor(() => expect(driver.answers).toHaveLength(2), { timeout: 10_000 });
    await csi.volumes.unmount("u1", signal);
    expect(verbs().slice(2)).toEqual(["unpublish", "unstage"]);
    expect(readdirSync(join(root, "pods/u1/volumes"))).toEqual([]);
  });

  it.each([
    ["its driver did not answer in time", new GrpcError("DEADLINE_EXCEEDED", "too late"), true],
    ["its driver was killed meanwhile", new GrpcError("UNAVAILABLE", "connection reset"), true],
    ["its driver refused", new GrpcError("INVALID_ARGUMENT", "no such volume"), false],
  ])("that may have been staged is unstaged with its Pod: %s", async (_, failure, isUnstaged) => {
    await driverObject({ attachRequired: false });
    await startDriver();
    driver.failure = (method) => (method === "stage" ? failure : undefined);
    await expect(mount("u1")).rejects.toThrow(failure.message);
    await csi.volumes.unmount("u1", signal);
    expect(verbs()).toEqual(isUnstaged ? ["stage", "unpublish", "unstage"] : ["stage"]);
    expect(existsSync(stagedDirectory(root, DRIVER, "vol-1"))).toBe(false);
    expect(existsSync(join(root, "pods/u1/volumes/kubernetes.io~csi"))).toBe(false);
  });

  it("that a kubelet had staged when it was killed is unstaged by the next one", async () => {
    await driverObject({ attachRequired: false });
    await startDriver();
    driver.failure = (method) => (method === "publish" ? new GrpcError("UNAVAILABLE", "killed") : undefined);
    await expect(mount("u1")).rejects.toThrow("killed");
    await tasks.stop();
    await startKubelet();
    await vi.waitFor(() => expect(driver.answers.length).toBe(2), { timeout: 10_000 });
    await csi.volumes.unmount("u1", signal);
    expect(verbs()).toEqual(["stage", "publish", "unpublish", "unstage"]);
  });

  it("that its Pod has waited for in vain is given back", async () => {
    await driverObject({ attachRequired: true });
    await startDriver();
    const leaving = new AbortController();
    const waiting = csi.volumes.mount(
      { pod: podOf("u1"), volume: { name: "data" }, persistentVolume: volumeOf(), readOnly: false },
      leaving.signal,
    );
    await vi.waitFor(() => expect(csi.inUse()).toHaveLength(1));
    leaving.abort();
    await expect(waiting).rejects.toThrow();
    await csi.volumes.unmount("u1", signal);
    expect([csi.inUse(), verbs()]).toEqual([[], []]);
  });

  it("of a driver is mounted while another plugin hangs, and a third one speaks another language", async () => {
    const plugins = ["hangs", "babbles"].map((name) =>
      createServer((socket) => {
        if (name === "babbles") socket.end("220 ready\r\n");
        socket.on("error", () => {});
      }).listen(join(root, "plugins_registry", `${name}.sock`)),
    );
    try {
      await driverObject({ attachRequired: false });
      await startDriver();
      await mount("u1");
      expect(verbs()).toEqual(["stage", "publish"]);
    } finally {
      await tasks.stop();
      for (const plugin of plugins) plugin.close();
    }
  });

  it("of mode Block is a device with a link of its Pod", async () => {
    await driverObject({ attachRequired: false });
    await startDriver();
    const path = await mount("u1", { persistentVolume: volumeOf({ volumeMode: "Block" }) });
    expect(path).toBe(join(root, "plugins/kubernetes.io/csi/volumeDevices/publish/pv-1/u1"));
    expect(readlinkSync(join(root, "pods/u1/volumeDevices/kubernetes.io~csi/pv-1"))).toBe(path);
    expect(driver.calls[0]?.[1]).toMatchObject({ volumeCapability: { block: {}, mount: null } });
    await csi.volumes.unmount("u1", signal);
    expect(verbs()).toEqual(["stage", "publish", "unpublish", "unstage"]);
    expect(existsSync(join(root, "pods/u1/volumeDevices/kubernetes.io~csi"))).toBe(false);
  });

  /** A claim of 1Gi whose volume has 2Gi. */
  async function growing(more: object = {}) {
    await driverObject({ attachRequired: false });
    await startDriver();
    const claims = client.of(kinds.PersistentVolumeClaim).in("default");
    const created = await claims.create({
      metadata: { name: "data", namespace: "default" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } },
    });
    const object = {
      status: {
        phase: "Bound",
        capacity: { storage: "1Gi" },
        conditions: [{ type: "FileSystemResizePending", status: "True" }],
        ...more,
      },
    };
    const claim = await claims
      .subresource<core.PersistentVolumeClaim>("data", "status")
      .patch({ type: "merge", object });
    return { claim, statusNow: async () => (await claims.get(created.metadata.name ?? "")).status };
  }
  const allocated = (state: string) => ({
    allocatedResources: { storage: "2Gi" },
    allocatedResourceStatuses: { storage: state },
  });

  it("grows on the node where its claim is smaller than the volume", async () => {
    const { claim, statusNow } = await growing(allocated("NodeResizePending"));
    await mount("u1", { claim });
    expect(driver.calls[2]).toMatchObject([
      "expand",
      { volumeId: "vol-1", capacityRange: { requiredBytes: "2147483648" } },
    ]);
    const status = await statusNow();
    expect(status).toMatchObject({ capacity: { storage: "2Gi" } });
    expect([status?.conditions ?? [], status?.allocatedResourceStatuses ?? {}]).toEqual([[], {}]);
    const note = `MountVolume.NodeExpandVolume succeeded for volume "pv-1" ${NODE}`;
    expect(told).toEqual(["Pod", "PersistentVolumeClaim"].map((kind) => `${kind} FileSystemResizeSuccessful ${note}`));
  });

  it.each([
    [
      "refuses",
      new GrpcError("OUT_OF_RANGE", "full"),
      "NodeResizeInfeasible",
      ["FileSystemResizePending", "NodeResizeError"],
    ],
    [
      "fails",
      new GrpcError("INTERNAL", "broken"),
      "NodeResizeInProgress",
      ["FileSystemResizePending", "NodeResizeError"],
    ],
    ["is away", new GrpcError("UNAVAILABLE", "gone"), "NodeResizeInProgress", ["FileSystemResizePending"]],
  ])("says on the claim what the driver says that %s", async (_, failure, state, conditions) => {
    const { claim, statusNow } = await growing(allocated("NodeResizePending"));
    driver.failure = (method) => (method === "expand" ? failure : undefined);
    await expect(mount("u1", { claim })).rejects.toThrow(failure.message);
    const status = await statusNow();
    expect(status?.allocatedResourceStatuses).toEqual({ storage: state });
    expect(status?.conditions?.map(({ type }) => type)).toEqual(conditions);
    expect(status?.capacity).toEqual({ storage: "1Gi" });
  });

  it("is mounted, and grows with its next Pod, where the driver grows only what nobody uses", async () => {
    const { claim, statusNow } = await growing(allocated("NodeResizePending"));
    driver.failure = (method) => (method === "expand" ? new GrpcError("FAILED_PRECONDITION", "in use") : undefined);
    await mount("u1", { claim });
    expect((await statusNow())?.allocatedResourceStatuses).toEqual({ storage: "NodeResizePending" });
  });

  it.each(["NodeResizeInfeasible", "ControllerResizeInProgress"])(
    "does not grow while its claim is %s",
    async (state) => {
      const { claim } = await growing(allocated(state));
      await mount("u1", { claim });
      expect(verbs()).toEqual(["stage", "publish"]);
    },
  );
});

describe("what a driver says of a volume", () => {
  const can = [NodeRpc.STAGE_UNSTAGE_VOLUME, NodeRpc.GET_VOLUME_STATS];
  const stats = {
    usage: [
      { unit: UsageUnit.BYTES, total: 100, available: 60, used: 40 },
      { unit: UsageUnit.INODES, total: 10, available: 7, used: 3 },
    ],
    volumeCondition: { abnormal: true, message: "the disk is dying" },
  };
  const figures = {
    capacityBytes: 100,
    availableBytes: 60,
    usedBytes: 40,
    inodes: 10,
    inodesFree: 7,
    inodesUsed: 3,
  };
  const usageWith = async (capabilities: readonly number[], answer: object) => {
    await driverObject({ attachRequired: false });
    await startDriver({ can: capabilities });
    driver.stats = answer;
    return csi.volumes.usage(await mount("u1"), signal);
  };

  it.each([
    { name: "its figures", capabilities: can, answer: stats, want: figures },
    {
      name: "and whether something is wrong, if it can",
      capabilities: [...can, NodeRpc.VOLUME_CONDITION],
      answer: stats,
      want: { ...figures, condition: { abnormal: true, message: "the disk is dying" } },
    },
    { name: "nothing, if it cannot", capabilities: [NodeRpc.STAGE_UNSTAGE_VOLUME], answer: stats, want: undefined },
    {
      name: "bytes alone",
      capabilities: can,
      answer: { usage: [{ unit: UsageUnit.BYTES, total: 5 }] },
      want: { capacityBytes: 5, availableBytes: 0, usedBytes: 0 },
    },
  ])("$name", async ({ capabilities, answer, want }) => {
    expect(await usageWith(capabilities, answer)).toEqual(want);
  });

  it("must not be empty", async () => {
    await expect(usageWith(can, {})).rejects.toThrow("failed to get usage from response. usage is nil");
  });

  it("is asked with the paths of the volume, and measured", async () => {
    await usageWith(can, stats);
    expect(driver.calls.at(-1)).toMatchObject([
      "stats",
      {
        volumeId: "vol-1",
        volumePath: join(root, "pods/u1/volumes/kubernetes.io~csi/pv-1/mount"),
        stagingTargetPath: join(stagedDirectory(root, DRIVER, "vol-1"), "globalmount"),
      },
    ]);
    expect(metrics.text()).toContain(
      `csi_operations_seconds_count{driver_name="${DRIVER}",method_name="/csi.v1.Node/NodeGetVolumeStats",grpc_status_code="OK",migrated="false"} 1`,
    );
    await csi.volumes.unmount("u1", signal);
    expect(await csi.volumes.usage(join(root, "pods/u1/volumes/kubernetes.io~csi/pv-1/mount"), signal)).toBeUndefined();
  });
});

it("a volume of one Pod alone is refused to a second one, until the first has gone", async () => {
  await driverObject({ attachRequired: false });
  await startDriver();
  const alone = { persistentVolume: volumeOf({ accessModes: ["ReadWriteOncePod"] }) };
  await mount("u1", alone);
  await expect(mount("u2", alone)).rejects.toThrow(
    "volume uses the ReadWriteOncePod access mode and is already in use by another pod",
  );
  expect(verbs()).toEqual(["stage", "publish"]);
  await csi.volumes.unmount("u1", signal);
  await mount("u2", alone);
  expect(verbs()).toEqual(["stage", "publish", "unpublish", "unstage", "stage", "publish"]);
});

describe("a limit of volumes that changes", () => {
  const count = async () => (await client.of(kinds.CSINode).get(NODE)).spec.drivers?.[0]?.allocatable?.count;
  /** An attachment that failed because the driver had no room. */
  const fullAttachment = async () => {
    const attachments = client.of(kinds.VolumeAttachment);
    const name = attachmentName(DRIVER, "vol-1", NODE);
    const source = { persistentVolumeName: "pv-1" };
    await attachments.create({ metadata: { name }, spec: { attacher: DRIVER, nodeName: NODE, source } });
    const object = { status: { attached: false, attachError: { message: "no room", errorCode: 8 } } };
    await attachments.subresource(name, "status").patch({ type: "merge", object });
  };

  it("is renewed at once when the driver had no room, where its CSIDriver wants that", async () => {
    await driverObject({ nodeAllocatableUpdatePeriodSeconds: 3600 });
    await startDriver();
    expect(await count()).toBe(8);
    driver.maxVolumes = 3;
    await fullAttachment();
    await expect(mount("u1")).rejects.toThrow("no room");
    await vi.waitFor(async () => expect(await count()).toBe(3), { timeout: 10_000 });
  });

  it("stays where the CSIDriver does not want it", async () => {
    await driverObject({});
    await startDriver();
    driver.maxVolumes = 3;
    await fullAttachment();
    await expect(mount("u1")).rejects.toThrow("no room");
    expect(await count()).toBe(8);
  });
});

describe("an inline volume", () => {
  const inline = { volume: { name: "cache", csi: { driver: DRIVER } }, persistentVolume: undefined };

  it("is published with what the driver wants to know of the Pod, and never staged", async () => {
    await driverObject({ attachRequired: false, volumeLifecycleModes: ["Ephemeral"], podInfoOnMount: true });
    await startDriver();
    const path = await mount("u1", inline);
    expect(path).toBe(join(root, "pods/u1/volumes/kubernetes.io~csi/cache/mount"));
    expect(driver.calls).toMatchObject([
      [
        "publish",
        {
          stagingTargetPath: "",
          volumeContext: { "csi.storage.k8s.io/ephemeral": "true", "csi.storage.k8s.io/pod.name": "pod-u1" },
        },
      ],
    ]);
    await csi.volumes.unmount("u1", signal);
    expect(verbs()).toEqual(["publish", "unpublish"]);
  });

  it("is refused by a driver that has none", async () => {
    await startDriver({ can: [NodeRpc.GET_VOLUME_STATS] });
    await expect(mount("u1", inline)).rejects.toThrow(
      `volume mode "Ephemeral" not supported by driver ${DRIVER} (no CSIDriver object)`,
    );
  });
});
