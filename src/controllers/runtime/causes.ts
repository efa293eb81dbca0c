/**
 * Why a reconcile ran, for those who want to see it: the revisions that woke its key, and what it decided. Travels with its requests.
 */
import type { Random } from "#base";
import { writeCause } from "#flows";
import type { Plan, Write } from "./plan.ts";

/** A key that waits for long is woken by many: the latest are told. */
const MAX_WOKEN = 32;

export class Causes {
  readonly #actor: string;
  readonly #process: string;
  readonly #woken = new Map<string, number[]>();
  #count = 0;

  constructor(actor: string, random: Random) {
    this.#actor = actor;
    this.#process = random.string(8);
  }

  woken(key: string, revision: number): void {
    const revisions = this.#woken.get(key);
    if (revisions === undefined) this.#woken.set(key, [revision]);
    else if (revisions.push(revision) > MAX_WOKEN) revisions.shift();
  }

  take(key: string): readonly number[] {
    const revisions = this.#woken.get(key) ?? [];
    this.#woken.delete(key);
    return revisions;
  }

  of(key: string, woken: readonly number[], startedAt: number, plan: Plan): string {
    this.#count += 1;
    return writeCause({
      id: `${this.#actor}/${this.#process}/${this.#count}`,
      actor: this.#actor,
      about: key,
      woken,
      startedAt,
      decided: wordsOf((plan.steps ?? []).flat()),
      calls: [],
    });
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
