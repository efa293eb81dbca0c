/**
 * Once through all that mutate, and, where the code of others has changed an object, a second time: the plugins of the server look at what became
 * of it, and the others only if they said that they want to.
 */
export class Rounds {
  /** 0, then 1. */
  number: 0 | 1 = 0;
  #wanted = false;
  #memories: Map<object, unknown> | undefined;

  /** Asks for the second round. There is no third. */
  again(): void {
    this.#wanted = true;
  }

  /** Goes on to the second round, if there is one. */
  next(): boolean {
    if (!this.#wanted || this.number === 1) return false;
    this.number = 1;
    return true;
  }

  /** What somebody remembers from the first round in the second. */
  memory<T>(owner: object, make: () => T): T {
    this.#memories ??= new Map();
    if (!this.#memories.has(owner)) this.#memories.set(owner, make());
    return this.#memories.get(owner) as T;
  }
}
