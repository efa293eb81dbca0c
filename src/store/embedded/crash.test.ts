/** kill -9 under load, again and again on the same data: whatever was acknowledged is there, and history has no gap. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { realClock, seededRandom } from "#base";
import { isStoreError } from "../model/errors.ts";
import type { Change, Revision, Store } from "../model/store.ts";
import { WatchReader } from "../testing/index.ts";
import { openEmbeddedStore } from "./open.ts";
import { type Acknowledged, WRITERS } from "./testing/crash-writer.ts";
import { scratchDir } from "./testing/scratch.ts";

const ROUNDS = 20;

describe("kill -9", () => {
  it("loses nothing that was acknowledged", async () => {
    const dir = scratchDir();
    const random = seededRandom(7);
    /** What the keys hold, as far as acknowledged or seen after an earlier crash. */
    const known = new Map<string, Acknowledged>();
    let start: Revision = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const acknowledged = await writeUntilKilled(dir, round, 1 + random.integer(800));
      const store = await openEmbeddedStore({ dir, clock: realClock() });
      start = await checkRound(store, start, acknowledged, known);
      await store.close();
    }
  });
});

/** Runs the writers until they have reported so many writes, and returns all that were reported. */
async function writeUntilKilled(dir: string, round: number, writes: number): Promise<readonly Acknowledged[]> {
  const program = join(import.meta.dirname, "testing", "crash-writer.ts");
  const child = spawn(process.execPath, [program, dir, `${round}`], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const closed = once(child, "close");
  const acknowledged: Acknowledged[] = [];
  for await (const line of createInterface(child.stdout)) {
    // The last line may have been cut by the kill: it is the report of a write that nobody heard of.
    const whole = parsed(line);
    if (whole !== undefined) acknowledged.push(whole);
    if (acknowledged.length === writes) child.kill("SIGKILL");
  }
  expect(await closed).toEqual([null, "SIGKILL"]);
  return acknowledged;
}

/** Holds the store to what was acknowledged, takes over what else it holds into `known`, and returns its revision. */
async function checkRound(
  store: Store,
  start: Revision,
  acknowledged: readonly Acknowledged[],
  known: Map<string, Acknowledged>,
): Promise<Revision> {
  const head = await store.revision();
  const compacted = await compactRevision(store);
  expect(head).toBeGreaterThanOrEqual(Math.max(start, ...acknowledged.map(({ revision }) => revision)));

  const history = await changesAfter(store, Math.max(start, compacted), head);
  const byRevision = new Map(history.map((change) => [change.revision, change]));
  for (const { revision, key, text } of acknowledged) {
    if (revision <= compacted) continue;
    const change = byRevision.get(revision);
    expect(change && { key: change.key, text: textOf(change) }).toEqual({ key, text });
  }
  const heard = new Set(acknowledged.map(({ revision }) => revision));
  // A writer waits for its answer: it can have one write that took place without being heard of.
  expect(history.filter(({ revision }) => !heard.has(revision)).length).toBeLessThanOrEqual(WRITERS);
  expect(new Set(acknowledged.map(({ revision }) => revision)).size).toBe(acknowledged.length);

  for (const each of acknowledged) keepNewest(known, each);
  for (const change of history) keepNewest(known, { key: change.key, revision: change.revision, text: textOf(change) });
  const { entries } = await store.list("/crash/");
  const wanted = [...known.values()].filter(({ text }) => text !== null);
  expect(new Map(entries.map(({ key, revision, value }) => [key, { key, revision, text: value.toString() }]))).toEqual(
    new Map(wanted.map((each) => [each.key, each])),
  );
  return head;
}

async function changesAfter(store: Store, after: Revision, head: Revision): Promise<readonly Change[]> {
  const reader = new WatchReader(store, "", after);
  const changes = [...(await reader.catchUp(head))];
  await reader.stop();
  expect(changes.map(({ revision }) => revision)).toEqual(
    Array.from({ length: head - after }, (_, i) => after + 1 + i),
  );
  return changes;
}

async function compactRevision(store: Store): Promise<Revision> {
  try {
    await store.list("", { revision: 0, limit: 1 });
    return 0;
  } catch (error) {
    if (isStoreError(error, "Compacted") && error.compactRevision !== undefined) return error.compactRevision;
    throw error;
  }
}

function keepNewest(known: Map<string, Acknowledged>, each: Acknowledged): void {
  if ((known.get(each.key)?.revision ?? 0) < each.revision) known.set(each.key, each);
}

function textOf({ entry }: Change): string | null {
  return entry?.value.toString() ?? null;
}

function parsed(line: string): Acknowledged | undefined {
  try {
    return JSON.parse(line) as Acknowledged;
  } catch {
    return undefined;
  }
}
