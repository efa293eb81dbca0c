/** A priority level alone, on virtual time: requests are started and finished by hand. */
import { MetricsRegistry, VirtualClock } from "#base";
import type { Attributed } from "../../pipeline/exchange.ts";
import { Demand } from "../demand.ts";
import { EventLoopBudget } from "../event-loop-budget.ts";
import { FairQueue, type Queuing } from "../fair-queue.ts";
import { LevelTimes } from "../measures/level-times.ts";
import { FairnessMetrics } from "../measures/metrics.ts";
import { Ticket } from "../ticket.ts";
import { ONE_SEAT, type Work } from "../work-estimate.ts";

export interface TestLevelOptions {
  readonly limit: number;
  /** Default: eight queues, hands of two, four in each. */
  readonly queuing?: Queuing;
  readonly seatsPerTurn?: number;
}

export function testLevel({ limit, queuing, seatsPerTurn = Number.POSITIVE_INFINITY }: TestLevelOptions) {
  const clock = new VirtualClock();
  const registry = new MetricsRegistry();
  const metrics = new FairnessMetrics(registry);
  const waitingTurns: (() => void)[] = [];
  const budget = new EventLoopBudget(seatsPerTurn, () => new Promise((resolve) => waitingTurns.push(resolve)));
  const queue = new FairQueue({ clock, budget, times: new LevelTimes(metrics.ofLevel("test"), new Demand(), 0) });
  const samples = metrics.ofSchema("schema", "test");
  queue.configure(queuing ?? { type: "queue", queues: 8, handSize: 2, lengthLimit: 4 }, limit, limit);
  const decided = new Map<Ticket, boolean>();
  const schema = { name: "schema", samples };
  const ticket = (distinguisher: string, arrivedMs: number, work: Work = ONE_SEAT, query = "") => {
    const exchange = { request: { query: new URLSearchParams(query) } } as unknown as Attributed;
    return new Ticket(schema, distinguisher, exchange, work, arrivedMs);
  };
  return {
    clock,
    queue,
    /** Of a request that has not entered. */
    ticket,
    registry,
    /** The outcomes of the requests that waited. */
    decided,
    /** A request of a flow enters. `hand`: the queues of the flow. */
    enter(flow: string, hand: readonly number[], work: Partial<Work> = {}, query = "") {
      const made = ticket(flow, clock.monotonic(), { ...ONE_SEAT, ...work }, query);
      made.decide = (execute) => decided.set(made, execute);
      return { ticket: made, entry: queue.enter(made, hand) };
    },
    /** The event loop turns once. */
    async turn(): Promise<void> {
      for (const next of waitingTurns.splice(0)) next();
      await Promise.resolve();
    },
  };
}
