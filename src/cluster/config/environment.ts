/** What a cluster or a component is given by the process that it runs in. */
import type { Clock, Logger } from "#base";

export interface Environment {
  readonly clock: Clock;
  readonly log: Logger;
  /** Called as each part is up. */
  readonly progress: (step: Step) => void;
}

export interface Step {
  readonly name: string;
  readonly detail: string;
  readonly ms: number;
}
