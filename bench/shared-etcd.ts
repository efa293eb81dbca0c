/** Two API servers on one etcd: from a write through one to its event on a watch of the other. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEtcd } from "../src/store/testing/etcd-server.ts";
import { Api } from "../test/support/api.ts";
import { Follower, revisionOf } from "../test/support/follower.ts";
import { Home } from "../test/support/k8ts.ts";
import type { Figure } from "./run.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const WRITES = 500;

export async function run(report: (figure: Figure) => void): Promise<void> {
  const etcd = await startEtcd({ members: 1, tls: false, dir: mkdtempSync(join(tmpdir(), "bench-etcd-")) });
  await using writerHome = new Home();
  await using readerHome = new Home();
  try {
    for (const home of [writerHome, readerHome]) await up(home, etcd.endpoints);
    const sorted = (await latencies(writerHome, readerHome)).toSorted((a, b) => a - b);
    const at = (part: number) => sorted[Math.floor(part * sorted.length)] ?? 0;
    report({ name: "a write through one server to its event on the other, median", value: at(0.5), unit: "ms" });
    report({ name: "the same, 99th percentile", value: at(0.99), unit: "ms" });
  } finally {
    await etcd.stop();
  }
}

async function up(home: Home, endpoints: readonly string[]): Promise<void> {
  const flags = ["--store", "etcd", "--controllers", "", "--etcd-servers", endpoints.join(), "--port", "0", "--detach"];
  const { code, stderr } = await home.k8ts("up", ...flags);
  if (code !== 0) throw new Error(stderr);
}

async function latencies(writerHome: Home, readerHome: Home): Promise<readonly number[]> {
  using writer = new Api(writerHome, "h2");
  using reader = new Api(readerHome, "h2");
  const follower = new Follower(reader, CONFIG_MAPS);
  const following = follower.follow();
  const { metadata } = await writer.ok("POST", CONFIG_MAPS, { metadata: { name: "seen" } });
  const found: number[] = [];
  for (let i = 0; i < WRITES; i++) {
    const start = performance.now();
    const data = { count: String(i) };
    const written = await writer.ok("PATCH", `${CONFIG_MAPS}/${metadata?.name}`, { data });
    await follower.reached(revisionOf(written));
    found.push(performance.now() - start);
  }
  reader[Symbol.dispose]();
  await following;
  return found;
}
