/** Two candidates for one lease; the first gives it up. */
import { setTimeout as sleep } from "node:timers/promises";
import { kinds } from "#api";
import { realClock, silentLogger, systemRandom } from "#base";
import { leadElected } from "#client";
import { of, type Scenario, type Stage, step } from "./scenario.ts";

const { Lease } = kinds;
const NAME = "elected";
const PATIENCE_MS = 20_000;

async function candidate({ client }: Stage, program: string) {
  const own = await client(program);
  const leaving = new AbortController();
  const elected = Promise.withResolvers<void>();
  const running = leadElected(
    {
      leases: own.of(Lease).in("default"),
      name: NAME,
      identity: program,
      clock: realClock(),
      random: systemRandom(),
      log: silentLogger,
      leaseMs: 3_000,
      renewDeadlineMs: 2_000,
      retryMs: 500,
    },
    leaving.signal,
    (leading) => {
      elected.resolve();
      return new Promise((resolve) => leading.addEventListener("abort", () => resolve(), { once: true }));
    },
  );
  return {
    elected: Promise.race([
      elected.promise,
      sleep(PATIENCE_MS).then(() => Promise.reject(new Error(`${program} was not elected`))),
    ]),
    async leave() {
      leaving.abort();
      await running;
      await own.close();
    },
  };
}

export const leaderElection: Scenario = {
  id: "leader-election",
  title: "Leader election: one of two candidates leads, then the other",
  about:
    "Candidates meet in a Lease. Whoever creates it leads, and renews it; the other one looks at it again and again. A leader that leaves gives the lease back, and the other takes it, by an update that fails if somebody was faster.",
  nodes: "simulated",
  act: async (stage) => {
    const first = await candidate(stage, "candidate-a");
    await first.elected;
    const second = await candidate(stage, "candidate-b");
    await sleep(1_500);
    await first.leave();
    await second.elected;
    await second.leave();
  },
  flow: (all) => of("coordination.k8s.io/leases", "default", NAME, { reads: true })(all),
  steps: [
    step("candidate-a ──► apiserver", /^POST leases$/, "the first one makes the lease: it leads"),
    step("apiserver ══► store", /^elected @/, "which is persisted"),
    step("candidate-a ──► apiserver", /^(PUT|PATCH) leases\/elected$/, "it renews the lease"),
    step("candidate-b ──► apiserver", /^GET leases\/elected$/, "the second one looks at it, and waits"),
    step("candidate-a ──► apiserver", /^(PUT|PATCH) leases\/elected$/, "the first one gives it back"),
    step("candidate-b ──► apiserver", /^(PUT|PATCH) leases\/elected$/, "the second one takes it: it leads"),
    step("apiserver ══► store", /^elected @/, "which is persisted"),
  ],
};
