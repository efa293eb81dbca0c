import { describe, expect, it } from "vitest";
import { MetricsRegistry, seededRandom } from "#base";
import { Demand, NO_DEMAND } from "../demand.ts";
import { type Busyness, LevelTimes } from "./level-times.ts";
import { FairnessMetrics } from "./metrics.ts";

const idle: Busyness = { waiting: 0, executing: 0, seatsInUse: 0, seatsWaiting: 0 };

function start() {
  const registry = new MetricsRegistry();
  const times = new LevelTimes(new FairnessMetrics(registry).ofLevel("test"), new Demand(), 0);
  times.setWholes(1, 1);
  /** Of a family: what was observed, times how often. */
  const sum = (family: string, phase = "") => {
    const line = registry
      .text()
      .split("\n")
      .find((each) => each.startsWith(`apiserver_flowcontrol_${family}_sum{${phase}`));
    return Number(line?.split(" ")[1]);
  };
  return { times, sum };
}

describe("the times of a level", () => {
  it("say the same of every account, however busy it was", () => {
    const random = seededRandom(1);
    const { times, sum } = start();
    const want = { waiting: 0, executing: 0, seats: 0, demand: 0, squares: 0 };
    let now = 0;
    for (let i = 0; i < 2_000; i++) {
      const executing = random.integer(i % 100 === 0 ? 400 : 4);
      const waiting = random.integer(4) === 0 ? random.integer(3) : 0;
      const busy = {
        waiting,
        executing,
        seatsInUse: executing + (random.integer(3) === 0 ? random.integer(5) : 0),
        seatsWaiting: waiting * 2,
      };
      const ms = random.integer(3);
      now += ms;
      expect(times.advance(busy, now)).toBe(ms);
      want.waiting += ms * waiting;
      want.executing += ms * executing;
      want.seats += ms * busy.seatsInUse;
      want.demand += ms * (busy.seatsInUse + busy.seatsWaiting);
      want.squares += ms * (busy.seatsInUse + busy.seatsWaiting) ** 2;
      if (i % 300 === 0) times.report();
    }
    const { average, deviation } = times.nextPeriod(NO_DEMAND, 0);
    times.report();
    expect({
      waiting: sum("priority_level_request_utilization", 'phase="waiting"'),
      executing: sum("priority_level_request_utilization", 'phase="executing"'),
      seats: sum("priority_level_seat_utilization"),
      demand: sum("demand_seats"),
    }).toEqual({
      waiting: want.waiting * 1e6,
      executing: want.executing * 1e6,
      seats: want.seats * 1e6,
      demand: want.demand * 1e6,
    });
    expect(average).toBeCloseTo(want.demand / now);
    expect(deviation).toBeCloseTo(Math.sqrt(want.squares / now - average ** 2));
  });

  it("count what has been by what it was compared with then", () => {
    const { times, sum } = start();
    times.advance({ ...idle, executing: 2, seatsInUse: 2 }, 1);
    times.setWholes(1, 4);
    times.advance({ ...idle, executing: 2, seatsInUse: 2 }, 2);
    times.report();
    expect(sum("demand_seats")).toBe(2.5e6);
  });

  it("are of no use to who looks back", () => {
    const { times, sum } = start();
    expect(times.advance({ ...idle, executing: 1, seatsInUse: 1 }, 5)).toBe(5);
    expect(times.advance({ ...idle, executing: 9, seatsInUse: 9 }, 4)).toBe(0);
    times.report();
    expect(sum("demand_seats")).toBe(5e6);
  });
});
