/**
 * The ways of the components and clients of a test cluster to its API server. They count requests under way, and let
 * faults act on them.
 *
 * 1. A watch is not under way once it is open: it may stay so for ever.
 */
import type { InProcessHandle } from "#client";

/** Requests of a component of this name, on their way to the API server. */
export type Meddle = (component: string, handle: InProcessHandle) => InProcessHandle;

export class Connections {
  readonly #handle: InProcessHandle;
  readonly #meddle: Meddle;
  readonly #underWay = new Set<string>();
  #numbers = 0;

  constructor(handle: InProcessHandle, meddle: Meddle) {
    this.#handle = handle;
    this.#meddle = meddle;
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  /** What is under way, for a message: who asks for what. */
  describe(): readonly string[] {
    return [...this.#underWay].map((text) => text.slice(text.indexOf(" ") + 1));
  }

  of(component: string): InProcessHandle {
    const handle = this.#meddle(component, this.#handle);
    return (request) => {
      const answering = handle(request);
      if (!(answering instanceof Promise)) return answering;
      const text = `${this.#numbers++} ${component}: ${request.method} ${request.path}`;
      this.#underWay.add(text);
      const over = () => this.#underWay.delete(text);
      answering.then(over, over);
      return answering;
    };
  }
}
