/**
 * The story of a user's data on a fresh cluster with two real nodes: a StatefulSet whose claims get volumes of the
 * default class. Its data survives all that may happen to Pods, nodes and the cluster; it is expanded, snapshotted,
 * restored and cloned; nothing is left when it goes. Everything is asked for with kubectl.
 */
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core, storage } from "../../src/api/index.ts";
import { nodeNames, readNode, siteNames } from "../../src/cluster/nodes/index.ts";
import { growsMounted, missingForMounts } from "../../src/storage/driver/testing/mounts.ts";
import { tool } from "../support/tools.ts";
import { leftovers, missing } from "./support/leftovers.ts";
import { Machine } from "./support/machine.ts";
import { driverStateOf } from "./support/volumes-of.ts";
import { until } from "./support/wait.ts";

const why = [tool("kubectl") === undefined ? "kubectl 1.36 is missing." : "", missing, missingForMounts()].join("");
const IMAGE = "localhost/busybox:1";
const SLEEP = ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 0.2; done"];
const NODES = ["node-1", "node-2"];
const PODS = ["db-0", "db-1", "db-2"];
const UP = ["up", "--detach", "--runtime", "containerd", "--nodes", "2", "--port", "0", "--node-loop-devices"];
const MIB = 1024 ** 2;

const container = {
  name: "main",
  image: IMAGE,
  command: SLEEP,
  volumeMounts: [{ name: "data", mountPath: "/data" }],
};
const listed = (names: string) => names.split("\n").filter((name) => name !== "" && name !== "lost+found");
const claimSpec = (more: object = {}) => ({
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage: "64Mi" } },
  ...more,
});
const labels = { app: "db" };
const database = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db" },
  spec: {
    serviceName: "db",
    replicas: PODS.length,
    podManagementPolicy: "Parallel",
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" },
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 1,
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "kubernetes.io/hostname",
            whenUnsatisfiable: "DoNotSchedule",
            labelSelector: { matchLabels: labels },
          },
        ],
        containers: [container],
      },
    },
    volumeClaimTemplates: [{ metadata: { name: "data" }, spec: claimSpec() }],
  },
};

describe.skipIf(why !== "")(`a user's data${why && `: ${why}`}`, { timeout: 240_000 }, () => {
  let machine: Machine;
  const namesOf = (node: string) => nodeNames(siteNames(machine.home.dataDir), node);
  const exec = (pod: string, script: string) =>
    machine.kubectl("exec", pod, "--", "sh", "-c", `(${script}) 2>&1 || true`);
  const ready = (...pods: string[]) =>
    machine.kubectl("wait", "--for=condition=Ready", "--timeout=120s", ...pods.map((name) => `pod/${name}`));
  const fieldOf = (object: string, path: string) => machine.kubectl("get", object, "-o", `jsonpath={${path}}`);

  /** Once all Pods answer: a Pod that was ready before a power failure is so for a while afterwards. */
  const whole = () =>
    until(
      () => Promise.all(PODS.map((pod) => exec(pod, "cat /data/name && grep -c ' /data ' /proc/mounts").catch(String))),
      (said) => said.every((text, at) => text === `${PODS[at]}\n1\n`),
    );

  /** Images behind the nodes' loop devices. A volume that is attached twice is there twice. */
  async function attached(): Promise<string[]> {
    const files = await Promise.all(
      NODES.map(async (node) => {
        const { firstLoop = 0 } = (await readNode(namesOf(node)))?.run ?? {};
        return Array.from({ length: 64 }, (_, at) => `/sys/block/loop${firstLoop + at}/loop/backing_file`);
      }),
    );
    return files.flat().flatMap((file) => (existsSync(file) ? [readFileSync(file, "utf8").trim()] : []));
  }
  const images = () => NODES.flatMap((node) => globSync(join(driverStateOf(namesOf(node)), "images/*/*")));

  async function pod(name: string, claimName: string): Promise<void> {
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName } }];
    const spec = { terminationGracePeriodSeconds: 1, containers: [container], volumes };
    await machine.apply({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec });
    await ready(name);
  }

  async function claim(name: string, dataSource: object): Promise<void> {
    const spec = claimSpec({ dataSource });
    await machine.apply({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name }, spec });
  }

  beforeAll(async () => {
    machine = await Machine.create();
    await machine.ok(...UP);
  }, 240_000);
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  it("a StatefulSet gets volumes of the default class, on both nodes", async () => {
    await machine.apply(database);
    await machine.kubectl("rollout", "status", "statefulset/db", "--timeout=150s");
    const { items: claims } = await machine.json<{ items: core.PersistentVolumeClaim[] }>("get", "pvc");
    expect(claims.map(({ metadata, spec, status }) => [metadata.name, spec?.storageClassName, status?.phase])).toEqual(
      PODS.map((name) => [`data-${name}`, "standard", "Bound"]),
    );
    const { items } = await machine.json<{ items: core.Pod[] }>("get", "pods");
    expect(new Set(items.map(({ spec }) => spec?.nodeName))).toEqual(new Set(NODES));
    for (const name of PODS) await exec(name, `echo ${name} > /data/name; sync`);
    await whole();
  });

  it("a volume of 64 MiB refuses the 65th", async () => {
    expect(await exec("db-0", "dd if=/dev/zero of=/data/large bs=1M count=65")).toContain("No space left on device");
    await exec("db-0", "rm /data/large");
  });

  it("data survives the deletion of Pods", async () => {
    await machine.kubectl("delete", "pod", ...PODS);
    await machine.kubectl("rollout", "status", "statefulset/db", "--timeout=120s");
    await whole();
  });

  it("a claim grows while its Pod runs, without a restart", async () => {
    const identity = "{.metadata.uid} {.status.containerStatuses[*].containerID}";
    const before = await machine.kubectl("get", "pod", "db-0", "-o", `jsonpath=${identity}`);
    const total = async () => Number((await exec("db-0", "df -Pk /data | tail -1 | awk '{print $2}'")).trim());
    const small = await total();
    const patch = JSON.stringify({ spec: { resources: { requests: { storage: "128Mi" } } } });
    await machine.kubectl("patch", "pvc", "data-db-0", "-p", patch);
    await until(
      () => fieldOf("pv", '.items[?(@.spec.claimRef.name=="data-db-0")].spec.capacity.storage'),
      (size) => size === "128Mi",
    );
    if (!growsMounted()) {
      // Such a machine lets a file system grow only between two mounts: the claim says so, until its Pod is another one.
      await until(
        () => fieldOf("pvc/data-db-0", ".status.conditions[*].type"),
        (types) => types.includes("FileSystemResizePending"),
      );
      await machine.kubectl("delete", "pod", "db-0");
    }
    await until(
      () => fieldOf("pvc/data-db-0", ".status.capacity.storage"),
      (size) => size === "128Mi",
    );
    await whole();
    expect(await total()).toBeGreaterThan(1.8 * small);
    if (growsMounted()) expect(await machine.kubectl("get", "pod", "db-0", "-o", `jsonpath=${identity}`)).toBe(before);
    expect(await exec("db-0", "dd if=/dev/zero of=/data/large bs=1M count=100")).not.toContain("No space left");
    await exec("db-0", "rm /data/large");
  });

  it("a snapshot is restored into a new claim, and a claim is cloned", async () => {
    const snapshot = {
      apiVersion: "snapshot.storage.k8s.io/v1",
      kind: "VolumeSnapshot",
      metadata: { name: "before" },
      spec: { source: { persistentVolumeClaimName: "data-db-1" } },
    };
    await machine.apply(snapshot);
    await machine.kubectl("wait", "--for=jsonpath={.status.readyToUse}=true", "--timeout=60s", "volumesnapshot/before");
    await exec("db-1", "echo later > /data/later; sync");
    await claim("restored", { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "before" });
    await claim("cloned", { kind: "PersistentVolumeClaim", name: "data-db-1" });
    await pod("restored", "restored");
    await pod("cloned", "cloned");
    expect(listed(await exec("restored", "cd /data; cat name; ls"))).toEqual(["db-1", "name"]);
    expect(await exec("cloned", "cd /data; cat name later; echo other > name")).toBe("db-1\nlater\n");
    await whole();
    await machine.kubectl("delete", "pod", "restored", "cloned");
    await machine.kubectl("delete", "pvc", "restored", "cloned");
    await machine.kubectl("delete", "volumesnapshot", "before");
  });

  it("a raw block volume is a device of its size in its Pods; the machine's disks stay closed", async () => {
    const spec = { ...claimSpec(), volumeMode: "Block" };
    await machine.apply({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "raw" }, spec });
    const main = {
      name: "main",
      image: IMAGE,
      command: SLEEP,
      volumeDevices: [{ name: "raw", devicePath: "/dev/raw" }],
    };
    const privileged = { ...main, securityContext: { privileged: true } };
    const use = async (name: string, container: object) => {
      const volumes = [{ name: "raw", persistentVolumeClaim: { claimName: "raw" } }];
      const podSpec = { terminationGracePeriodSeconds: 1, containers: [container], volumes };
      await machine.apply({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec: podSpec });
      await ready(name);
    };
    await use("raw", main);
    expect(await exec("raw", "echo kept > /dev/raw; sync; blockdev --getsize64 /dev/raw")).toBe(`${64 * MIB}\n`);
    expect(await exec("raw", "dd if=/dev/zero of=/dev/raw bs=1M count=1 seek=64")).toContain("No space left on device");
    const larger = JSON.stringify({ spec: { resources: { requests: { storage: "96Mi" } } } });
    await machine.kubectl("patch", "pvc", "raw", "-p", larger);
    await until(
      () => exec("raw", "blockdev --getsize64 /dev/raw"),
      (bytes) => bytes === `${96 * MIB}\n`,
    );
    await machine.kubectl("delete", "pod", "raw");
    await use("again", privileged);
    expect(await exec("again", "head -c 5 /dev/raw")).toBe("kept\n");
    const disks = readFileSync("/proc/partitions", "utf8").matchAll(/^ +(\d+) +(\d+) +\d+ (?!loop)\S+$/gm);
    for (const [, major, minor] of disks)
      expect(await exec("again", `mknod /tmp/disk b ${major} ${minor}; head -c 1 /tmp/disk; rm /tmp/disk`)).toContain(
        "Operation not permitted",
      );
    await machine.kubectl("delete", "pod", "again");
    await machine.kubectl("delete", "pvc", "raw");
  });

  it("data survives a power failure of a node", async () => {
    await machine.ok("node", "stop", "node-2");
    await machine.ok("node", "start", "node-2");
    await whole();
  });

  it("data survives `k8ts down` and `up`", async () => {
    await machine.ok("down");
    expect(machine.leftovers()).toEqual([]);
    await machine.ok(...UP);
    await whole();
  });

  it("data survives kill -9 of everything: API server, controllers, drivers, kubelets, containers", async () => {
    const processes = leftovers(machine.home.dataDir).flatMap((each) => /^process (\d+) /.exec(each)?.[1] ?? []);
    const cluster = machine.home.runState().pid;
    expect(processes.length).toBeGreaterThan(10);
    for (const pid of [cluster, ...processes.map(Number)]) {
      try {
        process.kill(pid, "SIGKILL");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // it went with another one
      }
    }
    await machine.ok(...UP);
    await whole();
    expect(await attached()).toHaveLength(PODS.length);
    expect(new Set(await attached()).size).toBe(PODS.length);
    const { items } = await machine.json<{ items: storage.VolumeAttachment[] }>("get", "volumeattachments");
    const volumes = items.map(({ spec }) => spec.source?.persistentVolumeName);
    expect(new Set(volumes).size).toBe(volumes.length);
  });

  it("nothing is left of a StatefulSet that is deleted with its claims", async () => {
    await machine.kubectl("delete", "statefulset", "db");
    await until(
      () => machine.kubectl("get", "pvc,pv,volumeattachments", "-o", "name"),
      (names) => names === "",
    );
    await until(attached, (files) => files.length === 0);
    await until(images, (files) => files.length === 0);
    // The folders of Pods go in a round of the kubelet.
    const folders = () => NODES.flatMap((node) => readdirSync(join(namesOf(node).kubeletRoot, "pods")));
    await until(folders, (names) => names.length === 0);
  });
});
