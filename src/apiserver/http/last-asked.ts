/**
 * What was found out for the last request, by who asked for what: most requests do as the one before, and to look that
 * up costs more than to compare. It is not the place to keep it: the next one may be another's.
 */
export class LastAsked<V> {
  #user: object | undefined;
  #topic: object | undefined;
  #value: V | undefined;

  /** `topic`: as in RequestInfo. Undefined for whoever or whatever else it was. */
  get(user: object, topic: object): V | undefined {
    return this.#topic === topic && this.#user === user ? this.#value : undefined;
  }

  set(user: object, topic: object, value: V): void {
    this.#user = user;
    this.#topic = topic;
    this.#value = value;
  }

  forget(): void {
    this.#value = undefined;
  }
}
