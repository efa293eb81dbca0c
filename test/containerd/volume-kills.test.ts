/**
 * kill -9 for kubelet, CSI driver and controllers in turn, under a StatefulSet that writes checksums, while its Pods come
 * and go: nothing acknowledged is lost, nothing is attached or mounted twice, and nothing is left in the end.
 * K8TS_KILL_ROUNDS says how often (default 6).
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { storage } from "../../src/api/index.ts";
import { realClock } from "../../src/base/index.ts";
import { nodeNames, readNode, siteNames } from "../../src/cluster/nodes/index.ts";
import { missingForMounts } from "../../src/storage/driver/testing/mounts.ts";
import { tool } from "../support/tools.ts";
import { inventory } from "./support/inventory.ts";
import { missing } from "./support/leftovers.ts";
import { Machine } from "./support/machine.ts";
import { driverStateOf } from "./support/volumes-of.ts";
import { until } from "./support/wait.ts";

const why = [tool("kubectl") === undefined ? "kubectl 1.36 is missing." : "", missing, missingForMounts()].join("");
const ROUNDS = Number(process.env.K8TS_KILL_ROUNDS ?? "6");
const PARTS = ["kubelet", "csiDriver", "controllers"] as const;
/** The kill falls into another moment of a Pod's way in each round. */
const DELAYS_MS = [0, 150, 300, 600, 1000, 1500, 2200];
const PODS = ["w-0", "w-1", "w-2"];
const UP = ["up", "--detach", "--runtime", "containerd", "--nodes", "1", "--port", "0"];

/**
 * Checks all blocks, then adds one after the other: the block and its sum are on the disk before its number is
 * acknowledged in `last`. Of many blocks, the first are dropped.
 */
const WRITER = `
set -e
trap 'exit 0' TERM
cd /data
[ "$(grep -c ' /data ' /proc/mounts)" = 1 ] || { echo "mounted twice" > /data/broken; }
n=$(cat last 2>/dev/null || echo 0)
[ "$n" = 0 ] || [ -f "block-$n" ] || echo "block $n is lost" > broken
for sum in sum-*; do [ ! -f "$sum" ] || sha256sum -c -s "$sum" || echo "$sum fails" > broken; done
while true; do
  n=$((n + 1))
  dd if=/dev/urandom of="block-$n" bs=4k count=4 conv=fsync 2>/dev/null
  sha256sum "block-$n" > "sum-$n"
  echo "$n" > last.new && mv last.new last && sync -d last 2>/dev/null || sync
  old=$((n - 200)); rm -f "block-$old" "sum-$old"
  sleep 0.1
done`;

/** Groups for all Pods: they are made with the first one, and stay. */
const KUBEPODS = /\/kubepods(\/besteffort)?\/?$/;

const BUILD = /\b[0-9a-f]{12}\b/g;

const labels = { app: "w" };
const writers = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "w" },
  spec: {
    serviceName: "w",
    replicas: PODS.length,
    podManagementPolicy: "Parallel",
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" },
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: "main",
            image: "localhost/busybox:1",
            command: ["sh", "-c", WRITER],
            volumeMounts: [{ name: "data", mountPath: "/data" }],
          },
        ],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOncePod"], resources: { requests: { storage: "32Mi" } } },
      },
    ],
  },
};

const title = `kill -9 under volumes${why && `: ${why}`}`;
describe.skipIf(why !== "")(title, { timeout: 180_000 + ROUNDS * 60_000 }, () => {
  const clock = realClock();
  let machine: Machine;
  let node: ReturnType<typeof nodeNames>;
  let empty: readonly string[];

  beforeAll(async () => {
    machine = await Machine.create();
    node = nodeNames(siteNames(machine.home.dataDir), "node-1");
    await machine.ok(...UP);
    await driverServes();
    empty = await belongings();
    await machine.apply(writers);
    await machine.kubectl("rollout", "status", "statefulset/w", "--timeout=120s");
  }, 240_000);
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  /** What the node has, whatever build of k8ts its programs are of. */
  const belongings = async () =>
    (await inventory(machine.home.dataDir, "node-1"))
      .map((each) => each.replaceAll(BUILD, "BUILD"))
      .filter((each) => !KUBEPODS.test(each));

  const runOf = async () => (await readNode(node))?.run;
  const driverServes = () =>
    until(
      () => machine.kubectl("get", "csinode", "node-1", "-o", "jsonpath={.spec.drivers[*].name}").catch(() => ""),
      (names) => names !== "",
    );

  /** Its successor runs by then. */
  async function kill(part: (typeof PARTS)[number]): Promise<void> {
    if (part === "controllers") {
      process.kill(machine.home.runState().pid, "SIGKILL");
      await machine.ok(...UP);
      return;
    }
    // After another start of the cluster, which has another port, kubelets are replaced.
    const isAlive = (pid = 0) => pid !== 0 && existsSync(`/proc/${pid}`);
    const before = await until(runOf, (found) => found?.state === "running" && isAlive(found[part]?.pid), 60_000);
    const pid = before?.[part]?.pid ?? Number.NaN;
    process.kill(pid, "SIGKILL");
    await until(runOf, (found) => found?.state === "running" && found[part]?.pid !== pid, 60_000);
  }

  /** The last block that each writer has acknowledged. */
  const acknowledged = async () =>
    Promise.all(
      PODS.map(async (pod) =>
        Number(await machine.kubectl("exec", pod, "--", "cat", "/data/last").catch(() => Number.NaN)),
      ),
    );
  /** What writers complain of. The kubelet may have been away for a moment. */
  const broken = () =>
    until(
      () =>
        Promise.all(
          PODS.map((pod) =>
            machine.kubectl("exec", pod, "--", "sh", "-c", "cat /data/broken || true").catch(() => undefined),
          ),
        ),
      (said) => !said.includes(undefined),
    );

  async function images(): Promise<string[]> {
    const { firstLoop = 0 } = (await runOf()) ?? {};
    return Array.from({ length: 64 }, (_, at) => `/sys/block/loop${firstLoop + at}/loop/backing_file`).flatMap(
      (file) => (existsSync(file) ? [readFileSync(file, "utf8").trim()] : []),
    );
  }

  it(`${ROUNDS} rounds: nothing is lost, attached or mounted twice, or left behind`, async () => {
    const start = await until(acknowledged, (numbers) => numbers.every((number) => number > 0));
    let last = start;
    for (let round = 0; round < ROUNDS; round++) {
      const pod = PODS[round % PODS.length] ?? "";
      const part = PARTS[Math.floor(round / PODS.length + round) % PARTS.length] ?? "kubelet";
      last = (await acknowledged()).map((number, at) => (Number.isNaN(number) ? (last[at] ?? 0) : number));
      await machine.kubectl("delete", "pod", pod, "--wait=false");
      await clock.sleep(DELAYS_MS[round % DELAYS_MS.length] ?? 0);
      await kill(part);
      const after = await until(
        acknowledged,
        (numbers) => numbers.every((number, at) => number > (last[at] ?? 0)),
        120_000,
      );
      expect(after.every((number, at) => number >= (last[at] ?? 0))).toBe(true);
      expect(await broken(), `after round ${round}: ${part}, ${pod}`).toEqual(PODS.map(() => ""));
      last = after;
    }
    await machine.kubectl("rollout", "status", "statefulset/w", "--timeout=120s");
    // Each volume has one device, one attachment, and each Pod one mount.
    const behind = await images();
    expect(behind).toHaveLength(PODS.length);
    expect(new Set(behind).size).toBe(PODS.length);
    const { items } = await machine.json<{ items: storage.VolumeAttachment[] }>("get", "volumeattachments");
    expect(new Set(items.map(({ spec }) => spec.source?.persistentVolumeName)).size).toBe(PODS.length);
    expect(items).toHaveLength(PODS.length);
    console.log(`blocks acknowledged: ${start.join(", ")} before, ${last.join(", ")} after ${ROUNDS} rounds`);

    await machine.kubectl("delete", "statefulset", "w");
    await until(
      () => machine.kubectl("get", "pods,pvc,pv,volumeattachments", "-o", "name"),
      (names) => names === "",
    );
    await until(
      async () => {
        const now = await belongings();
        return [
          ...now.filter((each) => !empty.includes(each)),
          ...(await images()),
          ...globSync(join(driverStateOf(node), "images/*/*")),
        ];
      },
      (left) => left.length === 0,
      90_000,
    );
  });
});
