/**
 * The section "Answers" of docs/compatibility.md: recorded answers of Kubernetes, compared with those of `k8ts up`. The
 * recordings are no part of the project (../shared/oracle).
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tablesIn } from "./docs/markdown-tables.ts";
import { start } from "./support/command.ts";
import { freePort } from "./support/free-port.ts";
import { Home } from "./support/k8ts.ts";

const root = join(import.meta.dirname, "..");
const recordings = join(root, "..", "shared", "oracle");
const TOKEN = "recorded";

interface Outcome {
  readonly asked: number;
  readonly different: readonly string[];
}

interface Difference {
  readonly on: string;
  readonly op?: string;
  readonly at?: string;
  readonly id?: number;
}

it.skipIf(!existsSync(recordings))("has every difference (../shared/oracle)", { timeout: 600_000 }, async () => {
  const [figures, differences] = tablesIn(readFileSync(join(root, "docs/compatibility.md"), "utf8"));
  const rows = differences?.rows.map(([difference = ""]) => difference).sort() ?? [];
  const differing = (flags: readonly string[], ask: (url: string) => Promise<Outcome>) =>
    thatDifferAlways(flags, ask, new Set(rows));
  // As the recorded server.
  const scripts = await differing(["--service-account-issuer", "https://kubernetes.default.svc"], scriptsOf);
  // The recorded server had no controllers and no privileged containers when it was asked these.
  const flags = ["--controllers=", "--allow-privileged=false"];
  const fields = await differing(flags, (url) =>
    questions(url, "fields", "field", ({ on, op, at }) => `${on} ${op} ${at}`),
  );
  const walks = await differing(flags, (url) => questions(url, "walks", "walk", ({ on, id }) => `${on} ${id}`));
  const outcomes = { scripts, fields, walks } as Readonly<Record<string, Outcome>>;

  expect(
    Object.values(outcomes)
      .flatMap(({ different }) => different)
      .sort(),
  ).toEqual(rows);
  expect(figures?.rows.map(([questions, , same]) => [questions, same])).toEqual(
    Object.entries(outcomes).map(([questions, { asked, different }]) => [
      questions,
      `${(asked - different.length).toLocaleString("en")} of ${asked.toLocaleString("en")}`,
    ]),
  );
});

/**
 * Asks again while there is a difference that is not documented. Some scripts wait a second for something to happen: on
 * a busy machine it may come later. And some answers have a time that differs from that of another object only if both
 * are not made in the same second.
 */
async function thatDifferAlways(
  flags: readonly string[],
  ask: (url: string) => Promise<Outcome>,
  documented: ReadonlySet<string>,
): Promise<Outcome> {
  let outcome = await asked(flags, ask);
  for (let again = 0; again < 6 && outcome.different.some((one) => !documented.has(one)); again++) {
    const { different } = await asked(flags, ask);
    outcome = { ...outcome, different: outcome.different.filter((one) => different.includes(one)) };
  }
  return outcome;
}

async function asked<T>(flags: readonly string[], ask: (url: string) => Promise<T>): Promise<T> {
  await using home = new Home();
  const tokens = join(home.dir, "tokens.csv");
  writeFileSync(tokens, `${TOKEN},admin,admin-uid,"system:masters"\n`);
  const port = String(await freePort());
  const up = ["up", "--store", "memory", "--port", port, "--token-auth-file", tokens, "--detach", ...flags];
  expect(await home.k8ts(...up)).toMatchObject({ code: 0 });
  return await ask(home.runState().url);
}

async function scriptsOf(url: string): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const dir of [recordings, join(recordings, "more")]) {
    const flags = ["--cases", join(dir, "cases"), "--compare", join(dir, "golden")];
    const text = await run(join(recordings, "run.mjs"), url, flags);
    const { cases } = JSON.parse(text) as { cases: readonly { name: string; pass: boolean }[] };
    const different = cases.filter(({ pass }) => !pass).map(({ name }) => `script \`${name}\``);
    outcomes.push({ asked: cases.length, different });
  }
  return {
    asked: outcomes.reduce((sum, { asked }) => sum + asked, 0),
    different: outcomes.flatMap(({ different }) => different),
  };
}

async function questions(
  url: string,
  kind: string,
  word: string,
  nameOf: (difference: Difference) => string,
): Promise<Outcome> {
  const dir = join(recordings, kind);
  const text = await run(join(dir, "run.mjs"), url, [join(dir, "corpus.jsonl.gz"), "--max", "100000"]);
  const [json = "", summary = ""] = text.trim().split("\n");
  const { failed } = JSON.parse(json) as { failed: readonly Difference[] };
  const passed = Number(/(\d+) passed/.exec(summary)?.[1]);
  const different = failed.map((difference) => `${word} \`${nameOf(difference)}\``);
  return { asked: passed + failed.length, different };
}

async function run(script: string, url: string, flags: readonly string[]): Promise<string> {
  const asked = ["--server", url, "--token", TOKEN, ...flags, "--json"];
  const insecure = script.endsWith(join("oracle", "run.mjs")) ? ["--insecure"] : [];
  const running = start(process.execPath, [script, ...asked, ...insecure], {
    cwd: root,
    env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: "0", NODE_NO_WARNINGS: "1" },
  });
  const { stdout } = await running.ended();
  return stdout;
}
