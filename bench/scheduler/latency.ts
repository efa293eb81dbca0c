/**
 * How long a new pod waits for its node on a cluster that has nothing else to do.
 *
 * 1. From the moment in which the creation is answered to the one in which a watcher sees the pod on its node: by then
 *    the binding is durable.
 * 2. Pods come one by one, with pauses, after some that warm up.
 * 3. A binding is one durable write. So beside it, in the same pauses, stands a bare one to the same disk, of as many
 *    bytes and flushed: what a machine's disk takes, no scheduler can take back. On the store in memory the same is
 *    measured without the disk.
 */
import { constants } from "node:fs";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import type { core } from "#api";
import type { Figure } from "../run.ts";
import { type BenchCluster, startBenchCluster } from "./cluster.ts";
import { NODES, node, PODS, pod, several } from "./objects.ts";

const NODE_COUNT = 5_000;
const WARM_UP = 100;
const MEASURED = 500;
const PAUSE_MS = 20;
const VALUE_BYTES = 1500;
const LIMIT_MS = 5;

export async function latency(report: (figure: Figure) => void): Promise<void> {
  for (const store of ["memory", "embedded"] as const) {
    await using cluster = await startBenchCluster({ store });
    await cluster.create(
      NODES,
      several(NODE_COUNT, (at) => node(at)),
    );
    await using disk = await bareDisk();
    const { bindings, writes } = await measure(cluster, disk);
    const name = `idle, ${store === "memory" ? "in memory" : "durable"}, from creation to binding`;
    report({ name: `${name}, median`, value: quantile(bindings, 0.5), unit: "ms" });
    report({ name: `${name}, p99`, value: quantile(bindings, 0.99), unit: "ms", bound: LIMIT_MS });
    if (store === "memory") continue;
    report({ name: "  a bare write to the disk meanwhile, median", value: quantile(writes, 0.5), unit: "ms" });
    report({ name: "  a bare write to the disk meanwhile, p99", value: quantile(writes, 0.99), unit: "ms" });
  }
}

interface Disk extends AsyncDisposable {
  /** Durable when it resolves. */
  write(at: number): Promise<void>;
}

/** A file whose blocks are there already, as those of a journal are. */
async function bareDisk(): Promise<Disk> {
  const dir = await mkdtemp(join(tmpdir(), "bench-scheduler-disk-"));
  const path = join(dir, "file");
  const value = Buffer.alloc(VALUE_BYTES, "0123456789abcdef");
  await writeFile(path, Buffer.alloc((WARM_UP + MEASURED) * VALUE_BYTES), { flush: true });
  const file = await open(path, constants.O_RDWR | constants.O_DSYNC);
  return {
    async write(at) {
      await file.write(value, 0, value.length, at * VALUE_BYTES);
    },
    async [Symbol.asyncDispose]() {
      await file.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function measure(cluster: BenchCluster, disk: Disk) {
  const bindings: number[] = [];
  const writes: number[] = [];
  const stopping = new AbortController();
  let seen: ((name: string) => void) | undefined;
  const watching = (async () => {
    for await (const event of cluster.client.of<core.Pod>(PODS).watch({ signal: stopping.signal })) {
      if (event.type !== "BOOKMARK" && event.object.spec?.nodeName) seen?.(event.object.metadata.name ?? "");
    }
  })().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  for (let at = 0; at < WARM_UP + MEASURED; at++) {
    const name = `pod-${at}`;
    const bound = Promise.withResolvers<number>();
    seen = (other) => other === name && bound.resolve(performance.now());
    await cluster.create(PODS, [pod(name)]);
    const answered = performance.now();
    const boundMs = (await bound.promise) - answered;
    await pause();
    const start = performance.now();
    await disk.write(at);
    const writeMs = performance.now() - start;
    await pause();
    if (at < WARM_UP) continue;
    bindings.push(boundMs);
    writes.push(writeMs);
  }
  stopping.abort();
  await watching;
  return { bindings, writes };
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}

function quantile(values: readonly number[], q: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(q * (values.length - 1))] ?? 0;
}
