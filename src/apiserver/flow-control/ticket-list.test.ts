import { describe, expect, it } from "vitest";
import { MetricsRegistry, seededRandom } from "#base";
import type { Exchange } from "../pipeline.ts";
import { FlowMetrics } from "./metrics.ts";
import { Ticket } from "./ticket.ts";
import { TicketList } from "./ticket-list.ts";
import { ONE_SEAT } from "./work-estimate.ts";

const samples = new FlowMetrics(new MetricsRegistry()).ofFlow("schema", "level");
const tickets = (count: number) =>
  Array.from(
    { length: count },
    (_, i) => new Ticket({ schema: "schema", samples }, `${i}`, {} as Exchange, ONE_SEAT, 0),
  );
const names = (list: TicketList) => [...list].map(({ distinguisher }) => distinguisher);

function listed(count: number) {
  const all = tickets(count);
  const list = new TicketList();
  for (const ticket of all) list.add(ticket);
  return { list, all };
}

describe("a list of tickets", () => {
  it.each([
    { name: "the first", leaving: [0], want: ["1", "2", "3"] },
    { name: "one between", leaving: [2], want: ["0", "1", "3"] },
    { name: "the last", leaving: [3], want: ["0", "1", "2"] },
    { name: "neighbours", leaving: [1, 2], want: ["0", "3"] },
    { name: "all, forwards", leaving: [0, 1, 2, 3], want: [] },
    { name: "all, backwards", leaving: [3, 2, 1, 0], want: [] },
    { name: "one twice", leaving: [1, 1], want: ["0", "2", "3"] },
  ])("keeps its order when it is left by $name", ({ leaving, want }) => {
    const { list, all } = listed(4);
    for (const i of leaving) list.delete(all[i] as Ticket);
    expect(names(list)).toEqual(want);
    expect([list.size, list.first?.distinguisher]).toEqual([want.length, want[0]]);
    const [more] = tickets(1);
    list.add(more as Ticket);
    expect(names(list)).toEqual([...want, "0"]);
  });

  it("lets go of who leaves, and who leaves of the others", () => {
    const { list, all } = listed(3);
    const between = all[1] as Ticket;
    expect([list.has(between), list.delete(between), list.has(between), list.delete(between)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect([between.list, between.before, between.after]).toEqual([undefined, undefined, undefined]);
    expect(all.some(({ before, after }) => before === between || after === between)).toBe(false);
  });

  it("does not let go of who is in another", () => {
    const { list, all } = listed(2);
    const other = listed(1);
    expect(other.list.delete(all[0] as Ticket)).toBe(false);
    expect([names(list), names(other.list)]).toEqual([["0", "1"], ["0"]]);
  });

  it("is as a Set, whatever comes and goes, and from one to another", () => {
    const random = seededRandom(3);
    const all = tickets(50);
    const lists = [new TicketList(), new TicketList()] as const;
    const sets = [new Set<Ticket>(), new Set<Ticket>()] as const;
    for (let step = 0; step < 3_000; step++) {
      const ticket = random.pick(all);
      const at = random.integer(2) === 0 ? 0 : 1;
      const isIn = sets.findIndex((set) => set.has(ticket));
      if (isIn === -1) {
        lists[at].add(ticket);
        sets[at].add(ticket);
      } else expect(lists[at].delete(ticket)).toBe(sets[at].delete(ticket));
      if (step % 50 !== 0) continue;
      expect(lists.map((list) => [...list])).toEqual(sets.map((set) => [...set]));
      expect(lists.map(({ size }) => size)).toEqual(sets.map(({ size }) => size));
    }
  });
});
