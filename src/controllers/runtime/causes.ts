/**
 * Why a reconcile ran, for the flow record: the revisions that woke its key, and its decision. Sent with its requests.
 */
import { Works } from "#flows";
import type { Plan, Write } from "./plan.ts";
import { type Read, readWords } from "./reads.ts";

/** A key may be woken many times before it runs: the latest revisions are kept. */
const MAX_WOKEN = 32;

export class Causes {
  readonly #works: Works;
  readonly #woken = new Map<string, number[]>();

  constructor(actor: string) {
    this.#works = new Works(actor);
  }

  woken(key: string, revision: number): void {
    const revisions = this.#woken.get(key);
    if (revisions === undefined) this.#woken.set(key, [revision]);
    // Two sources may report the same change.
    else if (!revisions.includes(revision) && revisions.push(revision) > MAX_WOKEN) revisions.shift();
  }

  take(key: string): readonly number[] {
    const revisions = this.#woken.get(key) ?? [];
    this.#woken.delete(key);
    return revisions;
  }

  /** The work is not finished: the next run has the same causes. */
  putBack(key: string, revisions: readonly number[]): void {
    if (revisions.length > 0) this.#woken.set(key, [...new Set([...revisions, ...this.take(key)])].slice(-MAX_WOKEN));
  }

  of(key: string, woken: readonly number[], startedAt: number, plan: Plan, read: readonly Read[] = []): string {
    const decided = wordsOf((plan.steps ?? []).flat());
    return this.#works.cause({ about: key, woken, read: readWords(read, key), startedAt, decided });
  }
}

/** `create 3 Pods, patch Deployment web`. */
export function wordsOf(writes: readonly Write[]): string {
  const groups = new Map<string, Write[]>();
  for (const write of writes) {
    const key = `${write.verb} ${write.resource.kind}`;
    groups.set(key, [...(groups.get(key) ?? []), write]);
  }
  return [...groups.values()]
    .map((all) => {
      const [{ verb, resource, object }] = all as [Write];
      const name = object.metadata.name ?? `${object.metadata.generateName}…`;
      return all.length === 1 ? `${verb} ${resource.kind} ${name}` : `${verb} ${all.length} ${resource.kind}s`;
    })
    .join(", ");
}
