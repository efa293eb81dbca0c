/**
 * Real nodes: how long a claim takes from its creation, together with its Pod, until its volume is mounted for the Pod,
 * and how much of that the driver's own calls take. The figures come from flow records. Needs root and containerd.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FlowRecord } from "#flows";
import { missing } from "../test/containerd/support/leftovers.ts";
import { Machine } from "../test/containerd/support/machine.ts";
import { until } from "../test/containerd/support/wait.ts";
import type { Figure } from "./run.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 20);
const DRIVER = "local.csi.k8ts.dev";
/** What a claim may take besides the driver's calls. */
const BOUND_MS = 300;

export async function run(report: (figure: Figure) => void): Promise<void> {
  if (missing !== "") {
    console.log(`  left out: ${missing}`);
    return;
  }
  await using machine = await Machine.create();
  await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "1", "--port", "0");
  await until(
    () => machine.kubectl("get", "csinodes", "-o", "jsonpath={.items[*].spec.drivers[*].name}").catch(String),
    (names) => names === DRIVER,
  );
  const totals: number[] = [];
  const drivers: number[] = [];
  const besides: number[] = [];
  for (let round = 0; round < ROUNDS + 2; round++) {
    const name = `bench-${round}`;
    const file = join(machine.home.dir, "bench.json");
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: [claim(name), pod(name)] }));
    await machine.kubectl("apply", "-f", file);
    const { totalMs, driverMs } = await until(
      async () => measured(await records(machine), name),
      (found) => found.totalMs > 0,
    );
    await machine.kubectl("delete", "pod,pvc", name);
    // The first ones fill caches.
    if (round < 2) continue;
    totals.push(totalMs);
    drivers.push(driverMs);
    besides.push(totalMs - driverMs);
  }
  for (const p of [50, 95]) {
    const say = (what: string, values: readonly number[], more: Partial<Figure> = {}) =>
      report({ name: `${what}, p${p} of ${ROUNDS}`, value: percentile(values, p), unit: "ms", ...more });
    say("claim and Pod created to volume mounted", totals);
    say("of that, calls of the driver", drivers);
    say("besides calls of the driver", besides, { bound: BOUND_MS });
  }
}

/** Without a duration, the volume is not mounted yet. */
function measured(all: readonly FlowRecord[], name: string): { readonly totalMs: number; readonly driverMs: number } {
  const made = all.find(
    (each) =>
      each.type === "request" &&
      each.verb === "create" &&
      each.resource === "persistentvolumeclaims" &&
      each.name === name,
  );
  const calls = all.flatMap((each) =>
    each.type === "work"
      ? each.calls
          .map(({ to, what, afterMs, tookMs }) => ({ to, what, at: each.at + afterMs, tookMs }))
          .filter(({ to, at }) => to === DRIVER && at >= (made?.at ?? 0))
      : [],
  );
  const published = calls.find(({ what }) => what === "NodePublishVolume");
  if (made === undefined || published === undefined) return { totalMs: 0, driverMs: 0 };
  const driverMs = calls
    .filter(({ what }) => /^(CreateVolume|ControllerPublishVolume|NodeStageVolume|NodePublishVolume)$/.test(what))
    .reduce((sum, { tookMs }) => sum + tookMs, 0);
  return { totalMs: published.at + published.tookMs - made.at, driverMs };
}

async function records(machine: Machine): Promise<readonly FlowRecord[]> {
  return (await machine.ok("kubectl", "get", "--raw", "/k8ts/flows"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as FlowRecord);
}

function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil((p / 100) * sorted.length) - 1] ?? 0;
}

const claim = (name: string) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "16Mi" } } },
});

const pod = (name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: "main",
        image: "localhost/busybox:1",
        command: ["sleep", "3600"],
        volumeMounts: [{ name: "data", mountPath: "/data" }],
      },
    ],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }],
  },
});
