/**
 * A CSI driver that runs in a Pod, as drivers do elsewhere: it registers with the kubelet through a folder of the node,
 * and what it mounts in there reaches other Pods (mount propagation), their statistics, and the kubelet's metrics.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core, storage } from "#api";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { Machine, WITH_NODE } from "./support/machine.ts";
import { until } from "./support/wait.ts";
import { nodeCommand, nodePod, pod, scripts } from "./support/web.ts";

const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;
const DRIVER = "tmpfs.csi.example.com";
const KUBELET = "/var/lib/kubelet";
const PROGRAM = "/opt/csi-driver";
const MIB = 1024 ** 2;
/** As the manifests of csi-hostpath and others have them, with node-driver-registrar. */
const FOLDERS = [
  { name: "pods", path: `${KUBELET}/pods`, type: "DirectoryOrCreate", mountPropagation: "Bidirectional" },
  { name: "plugins", path: `${KUBELET}/plugins`, type: "Directory", mountPropagation: "Bidirectional" },
  { name: "socket", path: `${KUBELET}/plugins/${DRIVER}`, type: "DirectoryOrCreate", mountPropagation: "None" },
  { name: "registration", path: `${KUBELET}/plugins_registry`, type: "DirectoryOrCreate", mountPropagation: "None" },
  { name: "data", path: "/var/lib/csi-example-data/", type: "DirectoryOrCreate", mountPropagation: "None" },
  { name: "devices", path: "/dev", type: "Directory", mountPropagation: "None" },
] as const;

describe.skipIf(why !== "")(`a CSI driver in a Pod${why && `: ${why}`}`, () => {
  let machine: Machine;
  beforeAll(async () => {
    machine = await Machine.create();
    const folder = join(machine.home.dir, "csi-driver");
    mkdirSync(folder);
    await build({
      entryPoints: [join(import.meta.dirname, "support", "csi-driver.ts")],
      outfile: join(folder, "driver.cjs"),
      bundle: true,
      platform: "node",
      format: "cjs",
      logLevel: "silent",
    });
    const up = ["up", "--detach", "--runtime", "containerd", "--nodes", "1", "--port", "0"];
    await machine.ok(...up, ...WITH_NODE, "--node-mount", `${folder}:${PROGRAM}:ro`);
  }, 240_000);
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  const driverPod = (): core.Pod => {
    const {
      volumes = [],
      containers,
      ...spec
    } = nodePod({
      command: [nodeCommand, `${PROGRAM}/driver.cjs`, DRIVER, KUBELET],
      securityContext: { privileged: true },
    });
    return pod(
      "driver",
      {},
      {
        ...spec,
        volumes: [
          ...volumes,
          ...FOLDERS.map(({ name, path, type }) => ({ name, hostPath: { path, type } })),
          { name: "program", hostPath: { path: PROGRAM } },
        ],
        containers: containers.map((container) => ({
          ...container,
          volumeMounts: [
            ...(container.volumeMounts ?? []),
            ...FOLDERS.map(({ name, path, mountPropagation }) => ({ name, mountPath: path, mountPropagation })),
            { name: "program", mountPath: PROGRAM, readOnly: true },
          ],
        })),
      },
    );
  };
  const objects: readonly object[] = [
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIDriver",
      metadata: { name: DRIVER },
      spec: { attachRequired: false },
    },
    {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "pv-1" },
      spec: {
        capacity: { storage: "4Mi" },
        accessModes: ["ReadWriteOncePod"],
        claimRef: { name: "data", namespace: "default" },
        csi: { driver: DRIVER, volumeHandle: "vol-1" },
      },
    },
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: {
        accessModes: ["ReadWriteOncePod"],
        resources: { requests: { storage: "4Mi" } },
        storageClassName: "",
        volumeName: "pv-1",
      },
    },
    pod(
      "writer",
      {},
      {
        // Not 0: then the API would not wait until the volume is taken down.
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: "main",
            image: "localhost/busybox:1",
            command: ["sh", "-c", "head -c 1048576 /dev/zero > /data/file; sleep 3600"],
            volumeMounts: [{ name: "data", mountPath: "/data" }],
          },
        ],
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
      },
    ),
  ];

  it("mounts a volume of another Pod, which is measured and taken down", { timeout: 240_000 }, async () => {
    await machine.apply(scripts);
    await machine.apply(driverPod());
    await machine.kubectl("wait", "--for=condition=Ready", "pod/driver", "--timeout=90s");
    await until(
      () => machine.json<storage.CSINode>("get", "csinode", "node-1"),
      ({ spec }) => spec.drivers?.some(({ name }) => name === DRIVER) === true,
      60_000,
    );
    for (const object of objects) await machine.apply(object);
    await machine.kubectl("wait", "--for=condition=Ready", "pod/writer", "--timeout=90s");
    const inWriter = () => machine.kubectl("exec", "writer", "--", "cat", "/proc/mounts");
    expect(await inWriter()).toMatch(/^tmpfs \/data tmpfs .*size=4096k/m);

    const raw = (path: string) => machine.kubectl("get", "--raw", `/api/v1/nodes/node-1/proxy${path}`);
    const summary = await until(
      () => raw("/stats/summary"),
      (text) => text.includes('"pvcRef"'),
      90_000,
    );
    const { pods } = JSON.parse(summary) as { readonly pods: readonly { readonly volume?: readonly object[] }[] };
    expect(pods.flatMap(({ volume = [] }) => volume)).toContainEqual(
      expect.objectContaining({
        name: "data",
        pvcRef: { name: "data", namespace: "default" },
        capacityBytes: 4 * MIB,
        inodesUsed: expect.any(Number),
      }),
    );
    const metrics = await raw("/metrics");
    expect(metrics).toContain(
      `kubelet_volume_stats_capacity_bytes{namespace="default",persistentvolumeclaim="data"} ${4 * MIB}\n`,
    );
    const call = (method: string) =>
      new RegExp(
        `^csi_operations_seconds_count\\{driver_name="${DRIVER}",method_name="/csi.v1.Node/${method}",grpc_status_code="OK",migrated="false"\\} [1-9]`,
        "m",
      );
    expect(metrics).toMatch(call("NodePublishVolume"));
    expect(metrics).toMatch(call("NodeGetVolumeStats"));
    expect(metrics).toContain(`storage_operation_duration_seconds_count{volume_plugin="kubernetes.io/csi:${DRIVER}"`);

    await machine.kubectl("delete", "pod", "writer", "--timeout=60s");
    const said = await machine.kubectl("logs", "driver");
    expect(said.split("\n").filter((line) => /published/.test(line))).toEqual(["published vol-1", "unpublished vol-1"]);
    const left = await machine.kubectl("exec", "driver", "--", "cat", "/proc/mounts");
    expect(left).not.toContain("kubernetes.io~csi");
  });
});
