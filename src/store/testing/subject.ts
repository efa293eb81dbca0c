/** What the parts of the contract suite share: how a backend is opened, and short ways to write and to compare. */

import { randomUUID } from "node:crypto";
import type { Parameters } from "fast-check";
import { isStoreError } from "../model/errors.ts";
import type { Change, Entry, Revision, Store, WriteOutcome } from "../model/store.ts";

export interface StoreHarness {
  /**
   * Opens a store, empty or not. It may be called several times; the stores may share their data, as clients of one
   * etcd do.
   */
  open(): Promise<Store>;
  close(store: Store): Promise<void>;
  /** Durable backends: closes the store and opens the same data again. */
  reopen?(store: Store): Promise<Store>;
  /** How many random sequences are tried, from which seed: fewer where a write is slow. */
  readonly property?: Parameters<unknown>;
}

/** The store that most tests of a suite share; each test writes below a prefix of its own. */
export type Subject = () => Store;

export function freshPrefix(): string {
  return `/contract/${randomUUID()}/`;
}

export function bytes(text: string): Buffer {
  return Buffer.from(text, "utf8");
}

/** The revision of a write that must not be refused. */
export function written(outcome: WriteOutcome): Revision {
  if (!outcome.ok) throw new Error(`The write was refused; there is ${JSON.stringify(shown(outcome.current))}.`);
  return outcome.revision;
}

/** Creates, updates or deletes, whatever is there: tests with one writer only. */
export async function put(store: Store, key: string, text: string): Promise<Revision> {
  const current = await store.get(key);
  const value = bytes(text);
  return written(
    current === undefined ? await store.create(key, value) : await store.update(key, value, current.revision),
  );
}

export async function remove(store: Store, key: string): Promise<Revision> {
  const current = await store.get(key);
  if (current === undefined) throw new Error(`There is no ${key} to delete.`);
  return written(await store.delete(key, current.revision));
}

export interface ShownEntry {
  readonly key: string;
  readonly text: string;
  readonly createRevision: Revision;
  readonly revision: Revision;
}

/** An entry as a plain value that assertions can compare and print. */
export function shown(entry: Entry | undefined): ShownEntry | undefined {
  if (entry === undefined) return undefined;
  const { key, value, createRevision, revision } = entry;
  return { key, text: value.toString("utf8"), createRevision, revision };
}

export interface ShownChange {
  readonly key: string;
  readonly revision: Revision;
  readonly entry: ShownEntry | undefined;
  readonly previous: ShownEntry | undefined;
}

export function shownChange(change: Change): ShownChange {
  const { key, revision, entry, previous } = change;
  return { key, revision, entry: shown(entry), previous: shown(previous) };
}

/** The code of the StoreError that a call fails with; any other outcome fails the test. */
export async function failureCode(call: () => Promise<unknown>): Promise<string> {
  return (await storeFailure(call)).code;
}

export async function storeFailure(call: () => Promise<unknown>) {
  try {
    await call();
  } catch (error) {
    if (isStoreError(error)) return error;
    throw error;
  }
  throw new Error("The call should have failed with a StoreError, but it succeeded.");
}

/** Runs `work` for 0 … count-1, at most `width` at a time. */
export async function inParallel(count: number, width: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, lane));
}
