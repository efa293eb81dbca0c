import { describe, expect, it } from "vitest";
import { type Health, healthOf, type Members, preferred, type Report, reported, withAddresses } from "./members.ts";

const members = (healths: Readonly<Record<string, Health>>): Members =>
  Object.entries(healths).map(([address, health]) => ({ address, health, missed: 0, isLeaving: false }));

describe("the health of a member", () => {
  it.each<{ name: string; from: Health; reports: readonly Report[]; want: Health }>([
    { name: "is ready after the first answer", from: "unknown", reports: ["ready"], want: "ready" },
    { name: "outlasts one lost check", from: "ready", reports: ["no answer"], want: "ready" },
    { name: "ends with the second one", from: "ready", reports: ["no answer", "no answer"], want: "dead" },
    { name: "counts only those in a row", from: "ready", reports: ["no answer", "ready", "no answer"], want: "ready" },
    { name: "ends with a refused connection", from: "ready", reports: ["refused"], want: "dead" },
    { name: "is draining while the server says so", from: "ready", reports: ["not ready"], want: "draining" },
    { name: "comes back", from: "dead", reports: ["ready"], want: "ready" },
  ])("$name", ({ from, reports, want }) => {
    const after = reports.reduce((now, report) => reported(now, "a", report), members({ a: from, b: "ready" }));
    expect([healthOf(after, "a"), healthOf(after, "b")]).toEqual([want, "ready"]);
  });
});

describe("a new connection tries", () => {
  it.each<{
    name: string;
    healths: Readonly<Record<string, Health>>;
    load?: Readonly<Record<string, number>>;
    want: string;
  }>([
    { name: "ready ones first", healths: { a: "dead", b: "draining", c: "unknown", d: "ready" }, want: "d c b a" },
    { name: "the one with the fewest connections", healths: { a: "ready", b: "ready" }, load: { a: 3 }, want: "b a" },
    { name: "dead ones where there is no other", healths: { a: "dead" }, want: "a" },
  ])("$name", ({ healths, load = {}, want }) => {
    const order = preferred(
      members(healths),
      (address) => load[address] ?? 0,
      () => 0,
    );
    expect(order.join(" ")).toBe(want);
  });

  it("one of equals by chance", () => {
    const chances = [0.9, 0.1];
    expect(
      preferred(
        members({ a: "ready", b: "ready" }),
        () => 0,
        () => chances.shift() ?? 0,
      ),
    ).toEqual(["b", "a"]);
  });
});

describe("the cluster names other members", () => {
  it("keeps what is known of those that stay, and lets others drain until they are dead", () => {
    const next = withAddresses(members({ a: "ready", b: "ready", c: "dead" }), ["b", "d"]);
    expect(next.map(({ address, health, isLeaving }) => `${address} ${health} ${isLeaving}`)).toEqual([
      "b ready false",
      "d unknown false",
      "a ready true",
    ]);
    expect(
      preferred(
        next,
        () => 0,
        () => 0,
      ),
    ).toEqual(["b", "d", "a"]);
    expect(reported(next, "a", "refused").map(({ address }) => address)).toEqual(["b", "d"]);
    expect(withAddresses(next, ["a"]).find(({ address }) => address === "a")?.isLeaving).toBe(false);
  });
});
