/** A bug that is planted into a run, to see whether the simulation finds it. */
import type { Random } from "#base";
import type { Meddling } from "../simulated-cluster.ts";

export interface Bug {
  readonly name: string;
  /** One sentence: what is wrong. */
  readonly words: string;
  plant(random: Random): Meddling;
}
