/**
 * What the guards of the pipeline cost: RBAC among 10,000 bindings, audit at Metadata and priority and fairness,
 * against a server that asks nobody, counts nothing and writes nothing down.
 *
 * 1. Both servers run side by side and take turns under the same load, one first in this round and the other in the
 *    next, so that a change in the machine's mood meets both. What counts is the median of what the rounds say, each
 *    compared within itself.
 * 2. Both hold the same objects, made in the same way: what a server has done before shapes how fast it does the next
 *    thing.
 * 3. The load stays awake and keeps its connections: a server that is slower than its load would wake it for every
 *    answer, which costs 5 µs of a GET, and one that is faster would not.
 * 4. Both are started several times: of two processes that do the same, one is faster than the other by up to a tenth
 *    for as long as they live.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "#base";
import { loadAuthority } from "#pki";
import type { Target } from "./apiserver/connection.ts";
import { configMap } from "./apiserver/objects.ts";
import { type Generator, startGenerator, startK8ts } from "./apiserver/processes.ts";
import { rate } from "./apiserver/rate.ts";
import type { Figure } from "./run.ts";

type Report = (figure: Figure) => void;

const BINDINGS = 10_000;
const STARTS = 5;
/** After each start. */
const ROUNDS = 10;
/** Before anything is measured: code that has not been compiled yet says nothing. */
const WARM_UP = { gets: 30_000, creates: 8_000 };
const GETS = 6_000;
const CREATES = 2_000;
const NAMESPACE = "/api/v1/namespaces/default";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GROUP = "rbac.authorization.k8s.io";
const STEADY = { keep: true, awake: true } as const;
const POST = { method: "POST", contentType: "application/json" } as const;

/** A server, and who asks it. */
interface Side {
  readonly generator: Generator;
  readonly target: Target;
}

interface Pair {
  readonly guarded: number;
  readonly open: number;
}

export async function run(report: Report): Promise<void> {
  const gets: Pair[] = [];
  const creates: Pair[] = [];
  for (let start = 0; start < STARTS; start++) {
    const dir = mkdtempSync(join(tmpdir(), "bench-pipeline-"));
    try {
      await measure(dir, gets, creates);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }
  report(figure("GET ConfigMap", gets));
  report(figure("create ConfigMap", creates));
}

async function measure(dir: string, gets: Pair[], creates: Pair[]): Promise<void> {
  const policy = join(dir, "policy.json");
  writeFileSync(
    policy,
    JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] }),
  );
  const audit = [
    "--audit-policy-file",
    policy,
    "--audit-log-path",
    join(dir, "audit.log"),
    "--audit-log-mode",
    "batch",
  ];
  await using toGuarded = startGenerator();
  await using toOpen = startGenerator();
  await using guarded = await startK8ts(join(dir, "guarded"), "API server", audit);
  await using open = await startK8ts(join(dir, "open"), "API server", [
    "--authorization-mode=AlwaysAllow",
    "--enable-priority-and-fairness=false",
    "--max-requests-inflight=0",
    "--max-mutating-requests-inflight=0",
  ]);
  await bind(toGuarded, guarded.target);
  await bind(toOpen, open.target);
  const subject = { generator: toGuarded, target: await as(join(dir, "guarded"), guarded.target) };
  const bound = { generator: toOpen, target: await as(join(dir, "open"), open.target) };
  for (const side of [subject, bound]) {
    await create(side, 1_000_000, 1);
    await get(side, WARM_UP.gets);
  }
  gets.push(...(await compare(subject, bound, (side) => get(side, GETS))));
  for (const side of [subject, bound]) await create(side, 0, WARM_UP.creates);
  const made = (round: number) => WARM_UP.creates + round * CREATES;
  creates.push(...(await compare(subject, bound, (side, round) => create(side, made(round), CREATES))));
}

async function compare(
  subject: Side,
  bound: Side,
  rateOf: (side: Side, round: number) => Promise<number>,
): Promise<readonly Pair[]> {
  const pairs: Pair[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const first = round % 2 === 0 ? subject : bound;
    const before = await rateOf(first, round);
    const after = await rateOf(first === subject ? bound : subject, round);
    pairs.push(first === subject ? { guarded: before, open: after } : { guarded: after, open: before });
  }
  return pairs;
}

function figure(name: string, pairs: readonly Pair[]): Figure {
  const open = median(pairs.map((pair) => pair.open));
  const part = median(pairs.map((pair) => pair.guarded / pair.open));
  return {
    name: `${name} with RBAC, audit and fairness, to one without`,
    value: open * part,
    unit: "requests/s",
    bound: open,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** One binding lets the bench's group work, all others are about others. */
async function bind(generator: Generator, target: Target): Promise<void> {
  const roleRef = (name: string) => ({ apiGroup: GROUP, kind: "ClusterRole", name });
  const own = {
    metadata: { name: "bench" },
    roleRef: roleRef("edit"),
    subjects: [{ apiGroup: GROUP, kind: "Group", name: "bench" }],
  };
  const other = {
    metadata: { name: "other-{i}" },
    roleRef: roleRef("view"),
    subjects: [{ apiGroup: GROUP, kind: "User", name: "user-{i}" }],
  };
  const load = { target, protocol: "h2", connections: 1, streams: 32, ...POST } as const;
  await generator.run({ ...load, path: `${RBAC}/clusterrolebindings`, requests: 1, body: JSON.stringify(own) });
  await generator.run({
    ...load,
    path: `${RBAC}/namespaces/default/rolebindings`,
    requests: BINDINGS,
    body: JSON.stringify(other),
  });
}

function get({ generator, target }: Side, requests: number): Promise<number> {
  const path = `${NAMESPACE}/configmaps/config-1000000`;
  return rate(generator, { target, ...STEADY, method: "GET", path, requests });
}

function create({ generator, target }: Side, first: number, requests: number): Promise<number> {
  const path = `${NAMESPACE}/configmaps`;
  return rate(generator, { target, ...STEADY, ...POST, path, body: configMap, first, requests });
}

async function as(dir: string, target: Target): Promise<Target> {
  const pki = (file: string) => readFileSync(join(dir, "data", "pki", file), "utf8");
  const authority = await loadAuthority({ certPem: pki("ca.crt"), keyPem: pki("ca.key"), clock: realClock() });
  const pair = await authority.issue({ commonName: "ann", organizations: ["bench"], usages: ["client"] });
  return { ...target, ...pair };
}
