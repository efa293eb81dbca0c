/** Faults between components and the API server. */
import type { Clock, Random } from "#base";
import type { InProcessHandle } from "#client";

export class Faults {
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  between(_component: string, handle: InProcessHandle): InProcessHandle {
    void [this.#clock, this.#random];
    return handle;
  }
}
