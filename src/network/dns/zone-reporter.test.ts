import { expect, it } from "vitest";
import { VirtualClock } from "#base";
import type { WorkFacts } from "#flows";
import type { DnsRecord } from "./records.ts";
import { differenceOf, zoneReporter } from "./zone-reporter.ts";

const a = (name: string, address: string): DnsRecord => ({ name, type: "A", address });
const many = (count: number) => Array.from({ length: count }, (_, at) => a("web", `10.0.${at >> 8}.${at & 255}`));

it.each<[string, DnsRecord[], DnsRecord[], string | undefined]>([
  ["nothing at all", [], [], undefined],
  ["the same", [a("web", "10.0.0.1")], [a("web", "10.0.0.1")], undefined],
  ["a new one", [], [a("web", "10.0.0.1")], "+1 record"],
  ["another address", [a("web", "10.0.0.1")], [a("web", "10.0.0.2")], "+1 −1 records"],
  ["none any more", [a("web", "10.0.0.1"), a("x", "10.0.0.1")], [], "−2 records"],
  ["very many", many(400), many(401), "401 records, before 400,"],
])("says what is different: %s", (_, before, now, want) => {
  expect(differenceOf(before, now)).toBe(want);
});

it("tells of a change with its cause, and of none where nothing answers otherwise", () => {
  const reported: WorkFacts[] = [];
  const clock = new VirtualClock();
  const onChange = zoneReporter({
    zone: "cluster.local",
    reporter: { report: (facts) => reported.push(facts) },
    clock,
  });
  onChange("shop/web", [], [a("web", "10.0.0.1")], 41);
  onChange("shop/web", [a("web", "10.0.0.1")], [a("web", "10.0.0.1")], 42);
  const call = { to: "zone cluster.local", what: "+1 record of shop/web", afterMs: 0, tookMs: 0 };
  expect(reported).toEqual([{ about: "shop/web", woken: [41], startedAt: clock.now(), decided: "", calls: [call] }]);
});
