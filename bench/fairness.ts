/**
 * Priority and fairness: what it costs a request that finds seats free, and what it is worth to one who asks now and
 * then while another floods the server.
 *
 * 1. The figure under a flood comes with the one of an idle server in the same run, as its bound: their ratio is what
 *    fairness is about.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { builtIn } from "#api";
import { MetricsRegistry, realClock, seededRandom, silentLogger } from "#base";
import { loadAuthority } from "#pki";
import { openMemoryStore } from "#store";
import { StoreFeed } from "../src/apiserver/cache/feed.ts";
import { fairness } from "../src/apiserver/fairness/index.ts";
import { requestInfo } from "../src/apiserver/http/request-info.ts";
import type { Attributed } from "../src/apiserver/pipeline/exchange.ts";
import { Resources } from "../src/apiserver/rest/resources.ts";
import type { ServerContext } from "../src/apiserver/rest/server-context.ts";
import type { Target } from "./apiserver/connection.ts";
import { configMap } from "./apiserver/objects.ts";
import { startGenerator, startK8ts } from "./apiserver/processes.ts";
import { callAgain } from "./fairness/caller.ts";
import type { Figure } from "./run.ts";

type Report = (figure: Figure) => void;

const NAMESPACE = "/api/v1/namespaces/default";
const ROUNDS = 400_000;
const CALLS = 1_000;
const FLOOD_WARM_UP_MS = 2_000;

export async function run(report: Report): Promise<void> {
  await stepCost(report);
  for (const fair of [true, false]) await flood(report, fair);
}

/** The step alone, before a request that is answered at once. */
async function stepCost(report: Report): Promise<void> {
  const clock = realClock();
  const store = openMemoryStore({ clock });
  const feed = new StoreFeed({ store, prefix: "/registry/", clock, log: silentLogger });
  const resources = new Resources(feed);
  for (const kind of builtIn) resources.add(kind);
  await feed.load();
  const context = { store, feed, clock, random: seededRandom(1), log: silentLogger } as unknown as ServerContext;
  const flow = fairness({ context, resources, metrics: new MetricsRegistry(), total: 600 });
  const path = `${NAMESPACE}/pods/x`;
  const query = new URLSearchParams();
  const answer = Promise.resolve({ status: 200, headers: {}, body: [] });
  const exchange = {
    request: { query },
    info: requestInfo("GET", path, query),
    user: { name: "ann", groups: ["devs", "system:authenticated"] },
    headers: {},
  } as unknown as Attributed;
  const measure = async (one: () => unknown) => {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 5; round++) {
      const start = process.cpuUsage();
      // Few in each turn, as requests come.
      for (let i = 0; i < ROUNDS / 5; i++) {
        await one();
        if (i % 8 === 0) await new Promise(setImmediate);
      }
      const { user, system } = process.cpuUsage(start);
      best = Math.min(best, user + system);
    }
    return best / (ROUNDS / 5);
  };
  const bare = await measure(() => answer);
  const whole = await measure(() => flow.step(exchange, () => answer));
  report({ name: "a request that finds seats free", value: whole - bare, unit: "µs" });
  flow.close();
  await store.close();
}

async function flood(report: Report, fair: boolean): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "bench-fairness-"));
  try {
    await using generator = startGenerator();
    await using server = await startK8ts(
      dir,
      "API server",
      fair ? [] : ["--enable-priority-and-fairness=false", "--max-requests-inflight=0"],
    );
    const { target } = server;
    await generator.run({
      target,
      protocol: "h2",
      connections: 1,
      requests: 1,
      method: "POST",
      path: `${NAMESPACE}/configmaps`,
      contentType: "application/json",
      body: configMap,
    });
    await generator.run({
      target,
      protocol: "h2",
      connections: 1,
      requests: 1,
      method: "POST",
      path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
      contentType: "application/json",
      body: JSON.stringify({
        metadata: { name: "bench" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "bench" }],
      }),
    });
    const calm = await as(dir, target, "calm");
    const loud = await as(dir, target, "loud");
    const path = `${NAMESPACE}/configmaps/config-0`;
    const idle = await callAgain(calm, path, CALLS);
    const state = { over: false, requests: 0 };
    const start = performance.now();
    const flooding = (async () => {
      while (!state.over) {
        const requests = 10_000;
        await generator.run({
          target: loud,
          protocol: "h2",
          connections: 16,
          streams: 16,
          requests,
          method: "GET",
          path,
          // Connections are opened once: whoever opens many is no matter of fairness, which knows callers only behind
          // them.
          keep: true,
        });
        state.requests += requests;
      }
    })();
    // Until the flood's connections are open and the server's code for them is compiled.
    await sleep(FLOOD_WARM_UP_MS);
    const flooded = await callAgain(calm, path, CALLS);
    state.over = true;
    await flooding;
    const seconds = (performance.now() - start) / 1000;
    const how = fair ? "fair" : "unfair";
    report({ name: `p50 of a calm caller under a flood, ${how}`, value: flooded.p50, unit: "ms", bound: idle.p50 });
    report({ name: `p99 of a calm caller under a flood, ${how}`, value: flooded.p99, unit: "ms", bound: idle.p99 });
    report({ name: `requests of the flood, ${how}`, value: state.requests / seconds, unit: "requests/s" });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The same server, as another user, of the group that may look. */
async function as(dir: string, target: Target, name: string): Promise<Target> {
  const pki = (file: string) => readFileSync(join(dir, "data", "pki", file), "utf8");
  const authority = await loadAuthority({ certPem: pki("ca.crt"), keyPem: pki("ca.key"), clock: realClock() });
  const pair = await authority.issue({ commonName: name, organizations: ["bench"], usages: ["client"] });
  return { ...target, ...pair };
}
