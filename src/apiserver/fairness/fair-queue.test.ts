import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testLevel } from "./testing/level.ts";
import type { Ticket } from "./ticket.ts";

describe("a level with queues", () => {
  it("lets pass what it has seats for, and refuses what its queues cannot hold", () => {
    const level = testLevel({ limit: 2 });
    const entries = Array.from({ length: 12 }, () => level.enter("a", [0, 1]).entry);
    expect(entries).toEqual([...Array(2).fill("execute"), ...Array(8).fill("wait"), ...Array(2).fill("queue-full")]);
    expect(level.queue.totals).toMatchObject({ waiting: 8, executing: 2, seatsInUse: 2, seatsWaiting: 8, rejected: 2 });
  });

  it("starts those who wait as seats become free", () => {
    const level = testLevel({ limit: 1 });
    const first = level.enter("a", [0, 1]).ticket;
    const second = level.enter("a", [0, 1]).ticket;
    level.queue.finish(first);
    expect(level.decided.get(second)).toBe(true);
    level.queue.finish(second);
    expect(level.queue.isIdle).toBe(true);
  });

  it("serves a flow of few beside a flow of many", () => {
    const level = testLevel({ limit: 1 });
    const running = [level.enter("flood", [0, 1]).ticket];
    const flood = Array.from({ length: 8 }, () => level.enter("flood", [0, 1]).ticket);
    const one = level.enter("quiet", [2, 3]).ticket;
    const order: Ticket[] = [];
    for (let ticket = running[0]; ticket !== undefined; ticket = order.at(-1)) {
      const before = level.decided.size;
      level.queue.finish(ticket);
      const next = [...level.decided.keys()][before];
      if (next === undefined) break;
      order.push(next);
    }
    expect(order.length).toBe(flood.length + 1);
    // Behind one of each of the two queues that the flood has.
    expect(order.indexOf(one)).toBeLessThanOrEqual(2);
  });

  it("gives queues the same time, not the same number of requests", async () => {
    const level = testLevel({ limit: 1, queuing: { type: "queue", queues: 8, handSize: 1, lengthLimit: 100 } });
    const served = { slow: 0, fast: 0 };
    const takesMs = { slow: 40, fast: 10 };
    let current = level.enter("slow", [0]).ticket;
    for (let i = 0; i < 60; i++) {
      level.enter("slow", [0]);
      level.enter("fast", [1]);
    }
    for (let i = 0; i < 60; i++) {
      const flow = current.distinguisher as "slow" | "fast";
      served[flow]++;
      await level.clock.advance(takesMs[flow]);
      const before = level.decided.size;
      level.queue.finish(current);
      const next = [...level.decided.keys()][before];
      if (next === undefined) throw new Error("nobody is next");
      current = next;
    }
    expect(served.fast / served.slow).toBeGreaterThan(3);
    expect(served.fast / served.slow).toBeLessThan(5);
  });

  it("executes what is wider than all its seats, alone", () => {
    const level = testLevel({ limit: 3 });
    const narrow = level.enter("a", [0, 1]).ticket;
    const wide = level.enter("b", [2, 3], { seats: 5 }).ticket;
    expect(level.decided.get(wide)).toBeUndefined();
    level.queue.finish(narrow);
    expect(level.decided.get(wide)).toBe(true);
    expect(level.enter("c", [4, 5]).entry).toBe("wait");
  });

  it("keeps the seats of a write that many watches hear of", async () => {
    const level = testLevel({ limit: 2 });
    const write = level.enter("a", [0, 1], { seats: 1, finalSeats: 2, finalMs: 30 }).ticket;
    level.queue.finish(write);
    const next = level.enter("a", [0, 1]).ticket;
    await level.clock.advance(29);
    expect([level.queue.totals.executing, level.decided.get(next)]).toEqual([0, undefined]);
    await level.clock.advance(1);
    expect(level.decided.get(next)).toBe(true);
  });

  it.each([
    { query: "", waits: 15_000 },
    { query: "timeout=40s", waits: 10_000 },
    { query: "timeout=1h", waits: 60_000 },
    { query: "timeout=soon", waits: 15_000 },
  ])("refuses after $waits ms with $query", async ({ query, waits }) => {
    const level = testLevel({ limit: 1 });
    level.enter("a", [0, 1]);
    const late = level.enter("a", [0, 1], {}, query).ticket;
    await level.clock.advance(waits - 1);
    expect(level.decided.get(late)).toBeUndefined();
    await level.clock.advance(1);
    expect([level.decided.get(late), level.queue.totals]).toMatchObject([false, { waiting: 0, timedOut: 1 }]);
    expect(level.clock.pending).toBe(0);
  });

  it("forgets who leaves", () => {
    const level = testLevel({ limit: 1 });
    level.enter("a", [0, 1]);
    const gone = level.enter("a", [0, 1]).ticket;
    level.queue.cancel(gone);
    level.queue.cancel(gone);
    expect(level.queue.totals).toMatchObject({ waiting: 0, seatsWaiting: 0, cancelled: 1, rejected: 1 });
    expect(level.clock.pending).toBe(0);
  });

  it("lets start in a turn what a turn has room for", async () => {
    const level = testLevel({ limit: 100, seatsPerTurn: 2 });
    const entries = Array.from({ length: 5 }, () => level.enter("a", [0, 1]).entry);
    expect(entries).toEqual(["execute", "execute", "wait", "wait", "wait"]);
    await level.turn();
    expect(level.decided.size).toBe(2);
    await level.turn();
    expect(level.decided.size).toBe(3);
  });

  it("refuses nothing that only waits for a turn: full queues count when the seats are taken", async () => {
    const level = testLevel({ limit: 4, seatsPerTurn: 2 });
    const burst = Array.from({ length: 12 }, () => level.enter("a", [0, 1]).entry);
    expect(burst).toEqual([...Array(2).fill("execute"), ...Array(10).fill("wait")]);
    await level.turn();
    expect([level.queue.totals.executing, level.decided.size]).toEqual([4, 2]);
    // All seats are taken, and both queues have four.
    expect(level.enter("a", [0, 1]).entry).toBe("queue-full");
  });

  it("goes on with fewer queues and seats, or more", () => {
    const level = testLevel({ limit: 1 });
    const first = level.enter("a", [6, 7]).ticket;
    const others = [level.enter("a", [6, 7]).ticket, level.enter("a", [6, 7]).ticket];
    level.queue.configure({ type: "queue", queues: 2, handSize: 1, lengthLimit: 4 }, 2, 2);
    expect(others.map((ticket) => level.decided.get(ticket))).toEqual([true, undefined]);
    for (const ticket of [first, ...others]) level.queue.finish(ticket);
    expect([level.queue.isIdle, level.queue.queues.length]).toEqual([true, 0]);
  });
});

describe("a level without queues", () => {
  it("refuses what finds no seat", () => {
    const level = testLevel({ limit: 1, queuing: { type: "reject" } });
    const { ticket } = level.enter("a", []);
    expect(level.enter("a", []).entry).toBe("concurrency-limit");
    level.queue.finish(ticket);
    expect(level.enter("a", []).entry).toBe("execute");
  });

  it("refuses nothing if it is exempt", () => {
    const level = testLevel({ limit: 0, queuing: { type: "exempt" }, seatsPerTurn: 1 });
    expect([level.enter("a", []).entry, level.enter("a", []).entry]).toEqual(["execute", "execute"]);
  });
});

describe("whatever comes", () => {
  const request = fc.record({
    flow: fc.integer({ min: 0, max: 5 }),
    seats: fc.integer({ min: 1, max: 4 }),
    finalSeats: fc.integer({ min: 0, max: 3 }),
    serviceMs: fc.integer({ min: 0, max: 20 }),
    gapMs: fc.integer({ min: 0, max: 8 }),
  });

  it("seats are never too many, and everyone who may wait is served or told", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 6 }),
        fc.array(request, { minLength: 1, maxLength: 60 }),
        async (limit, seatsPerTurn, requests) => {
          const level = testLevel({
            limit,
            seatsPerTurn,
            queuing: { type: "queue", queues: 6, handSize: 2, lengthLimit: 20 },
          });
          const { clock, queue } = level;
          const check = () => {
            const { seatsInUse, executing } = queue.totals;
            // One that is wider than the limit is alone.
            if (seatsInUse > limit) expect(executing).toBeLessThanOrEqual(1);
          };
          const run = (ticket: Ticket, serviceMs: number) => {
            check();
            clock.timer(serviceMs, () => {
              queue.finish(ticket);
              check();
            });
          };
          let served = 0;
          for (const { flow, seats, finalSeats, serviceMs, gapMs } of requests) {
            const { ticket, entry } = level.enter(`flow ${flow}`, [flow, (flow + 1) % 6], {
              seats,
              finalSeats,
              finalMs: 2,
            });
            ticket.decide = (execute) => {
              served++;
              if (execute) run(ticket, serviceMs);
            };
            if (entry !== "wait") served++;
            if (entry === "execute") run(ticket, serviceMs);
            await clock.advance(gapMs);
            await level.turn();
          }
          for (let i = 0; i < 3 * requests.length; i++) {
            await clock.advance(5);
            await level.turn();
          }
          await clock.runUntilIdle();
          expect([served, queue.totals.seatsInUse, queue.totals.waiting]).toEqual([requests.length, 0, 0]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("no flow starves: however many the others have, each gets its share", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 2, maxLength: 6 }),
        fc.integer({ min: 1, max: 3 }),
        async (backlogs, limit) => {
          const flows = backlogs.length;
          const level = testLevel({ limit, queuing: { type: "queue", queues: flows, handSize: 1, lengthLimit: 1000 } });
          const served = Array<number>(flows).fill(0);
          const running: Ticket[] = [];
          const start = (ticket: Ticket) => {
            running.push(ticket);
            const flow = Number(ticket.distinguisher);
            served[flow] = (served[flow] ?? 0) + 1;
          };
          const add = (flow: number) => {
            const { ticket, entry } = level.enter(String(flow), [flow]);
            ticket.decide = (execute) => void (execute && start(ticket));
            if (entry === "execute") start(ticket);
          };
          for (const [flow, backlog] of backlogs.entries()) for (let i = 0; i < backlog * 10; i++) add(flow);
          const rounds = 20 * flows;
          for (let i = 0; i < rounds; i++) {
            await level.clock.advance(5);
            for (const ticket of running.splice(0)) {
              level.queue.finish(ticket);
              add(Number(ticket.distinguisher));
            }
          }
          const fair = (rounds * limit) / flows;
          for (const count of served) expect(count).toBeGreaterThan(fair * 0.6 - 2);
        },
      ),
      { numRuns: 40 },
    );
  });
});
