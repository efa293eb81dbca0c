/** Audit: what it costs a request to be recorded at the level Metadata, and what a line of the log costs to write. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MetricsRegistry, realClock, seededRandom, silentLogger } from "#base";
import { audit, compilePolicy, parsePolicy } from "../src/apiserver/audit/index.ts";
import type { Sink } from "../src/apiserver/audit/sink.ts";
import { auditSteps } from "../src/apiserver/audit/step.ts";
import { ALLOW } from "../src/apiserver/authz/verdict.ts";
import { RequestInfos, requestInfo } from "../src/apiserver/http/request-info.ts";
import type { Step } from "../src/apiserver/pipeline/compose.ts";
import type { Authenticated } from "../src/apiserver/pipeline/exchange.ts";
import type { Resources } from "../src/apiserver/rest/resources.ts";
import type { Figure } from "./run.ts";

const ROUNDS = 40_000;
const query = new URLSearchParams();
const path = "/api/v1/namespaces/default/pods/some-pod-name";
/** Its events are written piece by piece. */
const PLAIN = requestInfo("GET", path, query);
/** As requests of the pipeline have it: their events are templates with a few values. */
const COMMON = new RequestInfos().of("GET", path, query);
const POLICY = "{kind: Policy, apiVersion: audit.k8s.io/v1, rules: [{level: Metadata}]}";

export async function run(report: (figure: Figure) => void): Promise<void> {
  const clock = realClock();
  const { policy } = parsePolicy(POLICY, "policy");
  const nowhere: Sink = { mode: "batch", push: () => {}, written: async () => true, close: async () => {} };
  const parts = { newId: () => randomUUID(), clock, kindOf: () => undefined };
  const none = auditSteps({
    ...parts,
    decide: compilePolicy({ ...policy, rules: [] }),
    sinks: [],
    metrics: new MetricsRegistry(),
  });
  const steps = auditSteps({
    ...parts,
    decide: compilePolicy(policy),
    sinks: [nowhere],
    metrics: new MetricsRegistry(),
  });
  const bare = await measure(none.audit);
  report({ name: "a request, at the level Metadata", value: (await measure(steps.audit)) - bare, unit: "µs" });

  const dir = mkdtempSync(join(tmpdir(), "bench-audit-"));
  try {
    for (const [mode, info] of [
      ["batch", PLAIN],
      ["batch", COMMON],
      ["blocking", PLAIN],
    ] as const) {
      const whole = await audit({
        settings: {
          policy,
          log: { path: join(dir, `${mode}-${info === COMMON}.log`), mode, bufferSize: Number.POSITIVE_INFINITY },
        },
        resources: {} as Resources,
        clock,
        random: seededRandom(1),
        log: silentLogger,
        metrics: new MetricsRegistry(),
      });
      const start = busyUs();
      await measure(whole.audit, 1, info);
      await whole.close();
      const each = (busyUs() - start) / ROUNDS;
      const name = `a request${info === COMMON ? " like others" : ""} with its lines in the log, ${mode}`;
      report({ name, value: each - bare, unit: "µs" });
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Microseconds for each, of the best of some rounds; sixteen are under way at a time. */
async function measure(step: Step<Authenticated>, rounds = 5, info = PLAIN): Promise<number> {
  const caller = { name: "ann", groups: ["devs", "system:authenticated"] };
  const original = {
    path,
    query,
    target: path,
    headers: { "user-agent": "kubectl/v1.36.4 (linux/amd64)" },
    remoteAddress: "127.0.0.1",
  };
  const answer: Promise<Answer> = Promise.resolve({
    status: 200,
    headers: { "content-type": "application/json" },
    body: [],
  });
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = busyUs();
    for (let i = 0; i < ROUNDS; i += 16) {
      await Promise.all(
        Array.from({ length: 16 }, () => {
          const exchange = {
            original,
            info,
            caller,
            user: caller,
            constraint: "",
            verdict: ALLOW,
            headers: {},
          };
          return step(exchange as unknown as Authenticated, () => answer);
        }),
      );
      await new Promise(setImmediate);
    }
    best = Math.min(best, busyUs() - start);
  }
  return best / ROUNDS;
}

/** Of this process, in microseconds: what others do on the machine meanwhile does not count. */
function busyUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Buffer[];
}
