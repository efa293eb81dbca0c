/** What a process provides to the cluster or component that it runs. */
import type { Clock, Logger } from "#base";

export interface Environment {
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after each phase of the start. */
  readonly progress: (step: Step) => void;
}

export interface Step {
  readonly name: string;
  readonly detail: string;
  readonly ms: number;
}
