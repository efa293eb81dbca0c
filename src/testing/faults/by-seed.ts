/**
 * The faults of `k8ts up --fault-seed`: what goes wrong in every cluster now and then, often. Components of the process
 * have to cope, as they have to in production.
 *
 * 1. Nothing is refused to users: their requests are not touched.
 */
import { type Clock, seededRandom } from "#base";
import type { InProcessHandle } from "#client";
import { Faults } from "./faults.ts";

export interface FaultsBySeed {
  between(component: string, handle: InProcessHandle): InProcessHandle;
}

export function faultsBySeed(seed: number, clock: Clock): FaultsBySeed {
  const faults = new Faults(clock, seededRandom(seed), () => {});
  faults.refuse(409, { method: "PUT", chance: 0.02 });
  faults.refuse(429, { chance: 0.01 });
  faults.refuse(500, { chance: 0.01 });
  faults.loseAnswers({ chance: 0.01 });
  faults.slow(500, { chance: 0.05 });
  faults.watches({ lateMs: 500, repeats: 0.02, breaks: 0.002 });
  return faults;
}
