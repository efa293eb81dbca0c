/** The works of one component in one process, each with an id that no other has. */
import { randomUUID } from "node:crypto";
import { writeCause } from "./cause.ts";
import type { Call } from "./record.ts";

export interface WorkFacts {
  readonly about: string;
  /** The resource of the object whose key `about` is. */
  readonly resource?: string | undefined;
  readonly woken: readonly number[];
  /** What it read. */
  readonly read?: readonly string[];
  readonly startedAt: number;
  readonly decided: string;
  readonly calls?: readonly Call[];
}

const NOTHING: readonly string[] = [];
const NO_CALLS: readonly Call[] = [];

export class Works {
  readonly #actor: string;
  /** Not from the component's Random: that would change its other random decisions. */
  readonly #process = randomUUID();
  #count = 0;

  constructor(actor: string) {
    this.#actor = actor;
  }

  /** The value of the cause header. */
  cause({ about, resource, woken, read = NOTHING, startedAt, decided, calls = NO_CALLS }: WorkFacts): string {
    const actor = this.#actor;
    this.#count += 1;
    const id = `${actor}/${this.#process}/${this.#count}`;
    return writeCause({ id, actor, about, resource, woken, read, startedAt, decided, calls });
  }
}
