/** For tests: directories that vanish with their test, and short ways to open stores in them. */

import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { realClock } from "#base";
import type { Store } from "../../model/store.ts";
import { type EmbeddedOptions, openEmbeddedStore } from "../open.ts";

export function scratchDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "embedded-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Closed at the end of the test, if the test has not done so. */
export async function openIn(dir: string, options: Partial<EmbeddedOptions> = {}): Promise<Store> {
  const store = await openEmbeddedStore({ dir, clock: realClock(), ...options });
  onTestFinished(() => store.close());
  return store;
}

/** Creates keys /k/0 … with values of some bytes. */
export async function fill(store: Store, count: number, valueBytes: number): Promise<void> {
  const outcomes = await Promise.all(
    Array.from({ length: count }, (_, i) => store.create(`/k/${i}`, Buffer.alloc(valueBytes, `${i} `))),
  );
  if (!outcomes.every((outcome) => outcome.ok)) throw new Error("The store was not empty.");
}

/**
 * What a refused open must not change. The lock's own files are left out: reading them here would drop a lock held
 * here.
 */
export function hashes(dir: string): Record<string, string> {
  const names = readdirSync(dir).filter((name) => !name.startsWith("lock"));
  return Object.fromEntries(
    names.map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(dir, name)))
        .digest("hex"),
    ]),
  );
}
