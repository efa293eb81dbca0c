/** The simulation itself, and what it says of our own components. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { bugs } from "./bugs/index.ts";
import { type Prepared, prepared } from "./prepared.ts";
import { failureReport } from "./report.ts";
import { type Outcome, type RunOptions, run } from "./run.ts";
import { scenarios } from "./scenarios/index.ts";
import { shrunk } from "./shrink.ts";

const HASHES = join(import.meta.dirname, "hashes.json");
const PROGRAM = fileURLToPath(new URL("./testing/print-hashes.ts", import.meta.url));
const LIMIT_MS = 300_000;

let start: Prepared;
beforeAll(async () => {
  start = await prepared(scenarioOf("all").parts);
}, LIMIT_MS);

function scenarioOf(name: string) {
  const found = scenarios.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no scenario ${name}`);
  return found;
}

const one = (name: string, seed: number, more: Partial<RunOptions> = {}): Promise<Outcome> =>
  run({ scenario: scenarioOf(name), seed, prepared: start, ...more });

describe("a run", () => {
  const known: Readonly<Record<string, string>> = JSON.parse(readFileSync(HASHES, "utf8"));

  it(
    "is the same each time, in this process and in another, here and on every machine",
    async () => {
      const found: Record<string, string> = {};
      for (const seed of [1, 2, 3]) {
        const first = await one("all", seed);
        const second = await one("all", seed);
        expect(second.history.lines.slice(0, 5)).toEqual(first.history.lines.slice(0, 5));
        expect([second.hash, second.contents]).toEqual([first.hash, first.contents]);
        found[seed] = first.hash;
      }
      const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, "1", "2", "3"]);
      expect(JSON.parse(stdout)).toEqual(found);
      if (process.env.K8TS_WRITE_HASHES === "1") writeFileSync(HASHES, `${JSON.stringify(found, undefined, 2)}\n`);
      else expect(found, "components say other things than before? See README.md").toEqual(known);
    },
    LIMIT_MS,
  );

  it(
    "is another one with another seed",
    async () => {
      expect((await one("rollout", 1)).hash).not.toBe((await one("rollout", 2)).hash);
    },
    LIMIT_MS,
  );

  it(
    "without some of its faults keeps the others",
    async () => {
      const whole = await one("scale", 5);
      expect(whole.faults.length).toBeGreaterThan(1);
      const [, second] = whole.faults;
      const { faults } = await one("scale", 5, { onlyFaults: [second?.number ?? 0] });
      expect(faults.map(({ words }) => words)).toEqual([second?.words]);
    },
    LIMIT_MS,
  );
});

describe("our own components", () => {
  it.each(scenarios.map(({ name }) => name))(
    "keep all invariants: %s",
    async (name) => {
      const count = name === "all" ? 30 : 4;
      for (let seed = 1; seed <= count; seed++) {
        const { violation } = await one(name, seed);
        expect(violation, `k8ts simulate ${name} --seed ${seed}`).toBeUndefined();
      }
    },
    LIMIT_MS,
  );
});

describe("a planted bug is found", () => {
  const found: readonly { bug: string; scenario: string; seed: number; by: string }[] = [
    { bug: "no-barrier", scenario: "scale", seed: 3, by: "no-surplus" },
    { bug: "forgotten-requeue", scenario: "rollout", seed: 4, by: "converged" },
    { bug: "restless-status", scenario: "rollout", seed: 1, by: "converged" },
    { bug: "lost-event", scenario: "rollout", seed: 19, by: "converged" },
    { bug: "delete-again", scenario: "scale", seed: 1, by: "innocent" },
    { bug: "impatient-statefulset", scenario: "statefulset", seed: 31, by: "one-of-each" },
    { bug: "double-booking", scenario: "scale", seed: 3, by: "fits" },
    { bug: "ignored-budgets", scenario: "node-loss", seed: 2, by: "budgets" },
    { bug: "kept-finalizer", scenario: "scale", seed: 1, by: "converged" },
    { bug: "lost-write", scenario: "rollout", seed: 2, by: "nothing-lost" },
    { bug: "stale-read", scenario: "leaders", seed: 1, by: "linearizable" },
    { bug: "two-leaders", scenario: "leaders", seed: 49, by: "one-leader" },
  ];

  it("each of them", () => {
    expect(found.map(({ bug }) => bug).sort()).toEqual(bugs.map(({ name }) => name).sort());
  });

  it.each(found)(
    "$bug: $scenario, seed $seed, by $by",
    async ({ bug, scenario, seed, by }) => {
      const planted = bugs.find(({ name }) => name === bug);
      expect((await one(scenario, seed, { bug: planted })).violation?.invariant).toBe(by);
      // It is the bug that is found.
      expect((await one(scenario, seed)).violation).toBeUndefined();
    },
    LIMIT_MS,
  );
});

describe("a failure", () => {
  it(
    "is reduced, and says how to see it again",
    async () => {
      const options = {
        scenario: scenarioOf("leaders"),
        seed: 1,
        prepared: start,
        bug: bugs.find(({ name }) => name === "stale-read"),
      };
      const whole = await run(options);
      const small = await shrunk(options, whole, true);
      expect(small.outcome.faults.length).toBeLessThanOrEqual(whole.faults.length);
      const { onlyFaults, decisions } = small.options;
      const again = await run({ ...options, onlyFaults, decisions });
      expect(again.hash).toBe(small.outcome.hash);
      const text = failureReport(small, "k8ts simulate leaders");
      expect(text).toContain("seed 1 breaks the invariant linearizable");
      expect(text).toMatch(/again: k8ts simulate leaders --seed 1 --bug stale-read/);
    },
    LIMIT_MS,
  );
});
