/**
 * Claims that get volumes: made, bound and deleted again, on simulated nodes with their driver in memory.
 *
 * 1. Everything is in one process: API server, durable store, controllers, sidecars, driver. Claims come over TLS.
 * 2. Writes are what the API server counts; Events are shown apart. Leases are left out.
 * 3. Upstream's sequence for a driver with a controller on each node has 7 writes: the claim, its provisioner, its node,
 *    the volume, the volume's phase, the claim's volume, the claim's phase. Ours are the same. Reported capacities come
 *    on top, a few for all claims.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { kinds } from "#api";
import { childController, realClock } from "#base";
import { Client, https } from "#client";
import { readKubeconfig } from "#pki";
import { startK8ts } from "./apiserver/processes.ts";
import type { Figure } from "./run.ts";

const CLAIMS = Number(process.env.BENCH_CLAIMS ?? 1_000);
const NODES = 10;
const WRITERS = 16;
const POLL_MS = 20;
const PATIENCE_MS = 60_000;
const WRITES = /^apiserver_request_total\{[^}]*verb="(POST|PUT|PATCH|APPLY|DELETE)"[^}]*\} (\d+)/;

export async function run(report: (figure: Figure) => void): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "bench-storage-"));
  try {
    await using _server = await startK8ts(dir, "control plane", ["--runtime", "simulated", "--nodes", String(NODES)]);
    const clock = realClock();
    const { server, caPem, client: identity = {} } = await readKubeconfig(join(dir, "data", "kubeconfig"));
    const transport = https({ server, caPem, ...identity }, { clock });
    const client = new Client({ transport, clock });
    try {
      const metadata = { name: "now" };
      await client.of(kinds.StorageClass).create({ metadata, provisioner: "local.csi.k8ts.dev" });
      const registered = async () => (await client.of(kinds.CSINode).list()).items.length === NODES;
      await until(registered);
      const claims = client.of(kinds.PersistentVolumeClaim).in("default");
      const countWrites = () => writesOf(transport);
      const before = await countWrites();
      const start = performance.now();
      let next = 0;
      const write = async () => {
        for (let at = next++; at < CLAIMS; at = next++)
          await claims.create({
            metadata: { name: `claim-${at}` },
            spec: {
              accessModes: ["ReadWriteOnce"],
              storageClassName: "now",
              resources: { requests: { storage: "1Mi" } },
            },
          });
      };
      await Promise.all(Array.from({ length: WRITERS }, write));
      await until(async () => (await claims.list()).items.every(({ status }) => status?.phase === "Bound"));
      const seconds = (performance.now() - start) / 1_000;
      const after = await countWrites();
      report({ name: `${CLAIMS} claims: bound`, value: CLAIMS / seconds, unit: "claims/s" });
      report({
        name: "writes for each claim, without Events",
        value: (after.objects - before.objects) / CLAIMS,
        unit: "",
      });
      report({ name: "Events for each claim", value: (after.events - before.events) / CLAIMS, unit: "" });

      const deleting = performance.now();
      await claims.deleteCollection();
      await until(async () => (await client.of(kinds.PersistentVolume).list()).items.length === 0);
      const left = (performance.now() - deleting) / 1_000;
      report({ name: `${CLAIMS} claims: deleted with their volumes`, value: CLAIMS / left, unit: "claims/s" });
    } finally {
      await client.close();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const start = performance.now();
  while (!(await isDone())) {
    if (performance.now() - start > PATIENCE_MS) throw new Error("the cluster is not done in time");
    await sleep(POLL_MS);
  }
}

async function writesOf(transport: ReturnType<typeof https>): Promise<{ objects: number; events: number }> {
  using ending = childController();
  const { body } = await transport.send({ method: "GET", target: "/metrics", headers: {}, ending });
  const parts: Uint8Array[] = [];
  for await (const part of body) if (part instanceof Uint8Array) parts.push(part);
  const counted = { objects: 0, events: 0 };
  for (const line of Buffer.concat(parts).toString().split("\n")) {
    const found = WRITES.exec(line);
    if (found === null || line.includes('resource="leases"')) continue;
    counted[line.includes('resource="events"') ? "events" : "objects"] += Number(found[2]);
  }
  return counted;
}
