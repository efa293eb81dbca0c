/** What users do in a run. */
import type { KubeObject } from "#api";
import { isStatusError } from "#api";
import type { Clock, Random } from "#base";
import type { Client } from "#client";
import type { Parts, SimulatedCluster } from "./simulated-cluster.ts";

export interface Scenario {
  readonly name: string;
  /** One sentence. */
  readonly words: string;
  readonly parts: Parts;
  /** Applied before any run. */
  readonly manifests?: readonly KubeObject[] | undefined;
  /** Actors of its own, which faults may concern. */
  readonly actors?: readonly string[] | undefined;
  /** Its users do what may lead to more Pods than are wanted. */
  readonly isGentle?: false | undefined;
  /** Until the user has done everything. */
  play(stage: Stage): Promise<void>;
  /** What is still missing at rest, beyond what is true of every cluster. */
  missing?(stage: Pick<Stage, "cluster">): string | undefined;
}

export interface Stage {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly cluster: SimulatedCluster;
  /** Ends when the run does. */
  readonly signal: AbortSignal;
  /** Waits. */
  sleep(ms: number): Promise<void>;
  /** Waits for a random time. */
  pause(mostMs: number): Promise<void>;
  /** Work that goes on until the run ends. */
  background(work: () => Promise<void>): void;
  /** Notes who leads. */
  leads(lease: string, who: string, isLeading: boolean): void;
}

const TRIES = 20;
const AGAIN = new Set(["Conflict", "TooManyRequests", "InternalError", "ServiceUnavailable", "Timeout"]);

/** As people do: again, when the server says that it was not the request's fault. What is gone is gone. */
export async function insist<T>({ clock }: Pick<Stage, "clock">, write: () => Promise<T>): Promise<T | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (error) {
      if (!isStatusError(error)) throw error;
      if (error.reason === "NotFound" || error.reason === "AlreadyExists") return undefined;
      if (!AGAIN.has(error.reason) || tries === TRIES) throw error;
      await clock.sleep(2_000);
    }
  }
}
