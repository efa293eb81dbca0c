/**
 * Volumes of the nodes' own CSI driver, in Pods: limits, and data that survives Pods, the driver, a power failure of
 * the node and of the cluster. Volumes are made over the driver's socket, as a provisioner does it.
 */
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core } from "../../src/api/index.ts";
import { realClock } from "../../src/base/index.ts";
import { nodeNames, readNode, siteNames } from "../../src/cluster/nodes/index.ts";
import { missingForMounts } from "../../src/storage/driver/testing/mounts.ts";
import { type CsiDriver, DRIVER_NAME, openCsiDriver, TOPOLOGY_KEY } from "../../src/storage/index.ts";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { Machine } from "./support/machine.ts";
import { driverSocketOf, driverStateOf } from "./support/volumes-of.ts";
import { until } from "./support/wait.ts";

const why = [tool("kubectl") === undefined ? "kubectl 1.36 is missing." : "", missing, missingForMounts()].join("");
const IMAGE = "localhost/busybox:1";
const SLEEP = ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 0.2; done"];
const MIB = 1024 ** 2;
const capability = { mount: {}, accessMode: { mode: 1 } };

describe.skipIf(why !== "")(`volumes of nodes${why && `: ${why}`}`, { timeout: 180_000 }, () => {
  let machine: Machine;
  const clock = realClock();
  const namesOf = (node: string) => nodeNames(siteNames(machine.home.dataDir), node);
  const runOf = async (node: string) => (await readNode(namesOf(node)))?.run;
  const socketOf = (node: string) => driverSocketOf(namesOf(node));
  const exec = (pod: string, script: string) =>
    machine.kubectl("exec", pod, "--", "sh", "-c", `(${script}) 2>&1 || true`);
  const ready = (pod: string) => machine.kubectl("wait", "--for=condition=Ready", "--timeout=90s", `pod/${pod}`);
  const loopsOf = async (node: string) => {
    const { firstLoop = 0 } = (await runOf(node)) ?? {};
    return Array.from({ length: 64 }, (_, at) => `/sys/block/loop${firstLoop + at}/loop/backing_file`).filter(
      existsSync,
    );
  };
  const claims = () => readdirSync("/run/k8ts/.loops").map((name) => readlinkSync(`/run/k8ts/.loops/${name}`));

  /** Each call has a connection of its own: the driver may have been replaced. */
  async function calling<T>(node: string, call: (driver: CsiDriver) => Promise<T>): Promise<T> {
    const driver = openCsiDriver(`unix://${socketOf(node)}`, { clock });
    try {
      return await call(driver);
    } finally {
      driver.close();
    }
  }

  /** A volume on the node, and a claim of the same name that has it. */
  async function claim(name: string, node: string, bytes: number): Promise<string> {
    const { volume } = await calling(node, ({ Controller }) =>
      Controller.CreateVolume({ name, capacityRange: { requiredBytes: bytes }, volumeCapabilities: [capability] }),
    );
    const volumeHandle = volume?.volumeId ?? "";
    const onNode = { key: TOPOLOGY_KEY, operator: "In", values: [node] };
    const common = { accessModes: ["ReadWriteOnce"], storageClassName: "" };
    await machine.apply({
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name },
      spec: {
        ...common,
        capacity: { storage: String(bytes) },
        persistentVolumeReclaimPolicy: "Retain",
        csi: { driver: DRIVER_NAME, volumeHandle },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onNode] }] } },
      },
    });
    const resources = { requests: { storage: String(bytes) } };
    const spec = { ...common, volumeName: name, resources };
    await machine.apply({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name }, spec });
    return volumeHandle;
  }

  async function run(name: string, source: Partial<core.Volume>, spec: Partial<core.PodSpec> = {}): Promise<void> {
    const container = {
      name: "main",
      image: IMAGE,
      command: SLEEP,
      volumeMounts: [{ name: "data", mountPath: "/data" }],
    };
    await machine.apply({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [container],
        volumes: [{ name: "data", ...source }],
        ...spec,
      },
    });
    await ready(name);
  }
  const claimed = (claimName: string) => ({ persistentVolumeClaim: { claimName } });

  beforeAll(async () => {
    machine = await Machine.create();
    await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "2", "--port", "0");
    await until(
      () => machine.kubectl("get", "csidrivers", "-o", "name"),
      (names) => names.includes(DRIVER_NAME),
    );
    for (const node of ["node-1", "node-2"])
      await until(
        () => machine.kubectl("get", "csinode", node, "-o", "jsonpath={.spec.drivers[*].name}").catch(() => ""),
        (names) => names.includes(DRIVER_NAME),
      );
  }, 240_000);
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  it("a volume of 64 MiB in a Pod of its node refuses the 65th; its data outlives the Pod", async () => {
    await claim("first", "node-1", 64 * MIB);
    await run("writer", claimed("first"));
    expect(await machine.kubectl("get", "pod", "writer", "-o", "jsonpath={.spec.nodeName}")).toBe("node-1");
    expect(await exec("writer", "dd if=/dev/zero of=/data/large bs=1M count=65")).toContain("No space left on device");
    await exec("writer", "rm /data/large; echo kept > /data/file; sync");
    await machine.kubectl("delete", "pod", "writer");
    await run("reader", claimed("first"));
    expect(await exec("reader", "cat /data/file")).toBe("kept\n");
  });

  it("an inline volume comes and goes with its Pod", async () => {
    const csi = { driver: DRIVER_NAME, volumeAttributes: { size: "32Mi" } };
    await run("inline", { csi }, { nodeName: "node-2" });
    expect(await exec("inline", "dd if=/dev/zero of=/data/large bs=1M count=33")).toContain("No space left on device");
    expect(await loopsOf("node-2")).toHaveLength(1);
    await machine.kubectl("delete", "pod", "inline");
    await until(
      () => loopsOf("node-2"),
      (loops) => loops.length === 0,
    );
    // The file goes after the loop device that it was behind.
    await expect.poll(() => readdirSync(join(driverStateOf(namesOf("node-2")), "images/volumes"))).toEqual([]);
  });

  it("raw block volumes are refused: Pods of such nodes cannot open devices", async () => {
    const request = { name: "block", volumeCapabilities: [{ block: {}, accessMode: { mode: 1 } }] };
    await expect(calling("node-1", ({ Controller }) => Controller.CreateVolume(request))).rejects.toThrow(
      "raw block volumes are not possible here: Pods of this node cannot open block devices",
    );
  });

  it("a hostile Pod can open no volume's device, neither of its node nor of another one", async () => {
    await claim("other", "node-2", 16 * MIB);
    await run("neighbour", claimed("other"));
    const hostile = {
      nodeName: "node-1",
      hostPID: true,
      containers: [{ name: "main", image: IMAGE, command: SLEEP, securityContext: { privileged: true } }],
    };
    await run("hostile", { hostPath: { path: "/" } }, hostile);
    for (const node of ["node-1", "node-2"]) {
      const [file = ""] = await loopsOf(node);
      const minor = /loop(\d+)/.exec(file)?.[1];
      expect(minor).toBeDefined();
      const read = `mknod /tmp/${node} b 7 ${minor}; dd if=/tmp/${node} of=/dev/null count=1`;
      expect(await exec("hostile", read)).toContain("Operation not permitted");
    }
    // The driver itself can open those of its node only, whoever has taken it over.
    const { firstLoop = 0 } = (await runOf("node-2")) ?? {};
    const rules = await exec("hostile", "cat /proc/[0-9]*/cgroup");
    expect(rules).not.toContain("node-2");
    const own = machine.start("cat", `/sys/fs/cgroup/devices${namesOf("node-1").volumesCgroup}/devices.list`);
    expect((await own.ended()).stdout).not.toContain(`b 7:${firstLoop} `);
    await machine.kubectl("delete", "pod", "hostile", "neighbour");
  });

  it("the driver is started again after kill -9, and nothing is mounted twice", async () => {
    const before = await runOf("node-1");
    process.kill(before?.csiDriver?.pid ?? 0, "SIGKILL");
    await until(
      () => runOf("node-1"),
      (found) => found?.state === "running" && found.csiDriver?.pid !== before?.csiDriver?.pid,
    );
    await until(
      () => calling("node-1", ({ Identity }) => Identity.Probe({})).catch(() => undefined),
      (answer) => answer?.ready?.value === true,
    );
    expect(await exec("reader", "cat /data/file")).toBe("kept\n");
    expect(await loopsOf("node-1")).toHaveLength(1);
    await machine.kubectl("delete", "pod", "reader");
    await run("reader", claimed("first"));
    expect(await exec("reader", "cat /data/file; grep -c ' /data ' /proc/mounts")).toBe("kept\n1\n");
    expect(await loopsOf("node-1")).toHaveLength(1);
  });

  it("a power failure of the node detaches its devices; it finds its volumes when it is on again", async () => {
    const loops = await loopsOf("node-1");
    expect(loops).toHaveLength(1);
    await machine.ok("node", "stop", "node-1");
    expect(loops.filter(existsSync)).toEqual([]);
    expect(claims()).not.toContain(namesOf("node-1").id);
    await machine.ok("node", "start", "node-1");
    await until(
      () => exec("reader", "cat /data/file").catch(() => ""),
      (said) => said === "kept\n",
    );
  });

  it("so does `k8ts down` and `up`", async () => {
    await machine.ok("down");
    expect(machine.leftovers()).toEqual([]);
    await machine.ok("up", "--detach", "--runtime", "containerd", "--port", "0");
    await until(
      () => exec("reader", "cat /data/file").catch(() => ""),
      (said) => said === "kept\n",
    );
    expect(await loopsOf("node-1")).toHaveLength(1);
  });

  it("`k8ts node remove` deletes its volumes", async () => {
    await machine.ok("node", "remove", "node-2");
    expect(existsSync(namesOf("node-2").dir)).toBe(false);
    expect(claims()).not.toContain(namesOf("node-2").id);
  });
});
