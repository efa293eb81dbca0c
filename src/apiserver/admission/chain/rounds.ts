/**
 * The rounds of mutation: a second one follows if a webhook or policy has changed the object. Built-in plugins run in
 * both; webhooks and policies run again as `reinvocation.ts` decides.
 */
export class Rounds {
  /** 0, then 1. */
  number: 0 | 1 = 0;
  #wanted = false;
  #memories: Map<object, unknown> | undefined;

  /** Requests the second round. There is no third. */
  again(): void {
    this.#wanted = true;
  }

  /** Starts the second round, if it was requested. */
  next(): boolean {
    if (!this.#wanted || this.number === 1) return false;
    this.number = 1;
    return true;
  }

  /** State that a plugin keeps from the first round to the second. */
  memory<T>(owner: object, make: () => T): T {
    this.#memories ??= new Map();
    if (!this.#memories.has(owner)) this.#memories.set(owner, make());
    return this.#memories.get(owner) as T;
  }
}
