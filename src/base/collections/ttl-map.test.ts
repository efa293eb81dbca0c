import { expect, it } from "vitest";
import { VirtualClock } from "../system/virtual-clock.ts";
import { TtlMap } from "./ttl-map.ts";

it("returns a value until its time to live is over", async () => {
  const clock = new VirtualClock();
  const map = new TtlMap<string, string>(10, clock);
  map.set("short", "s", 1000);
  map.set("long", "l", 5000);
  await clock.advance(999);
  expect([map.get("short"), map.get("long")]).toEqual(["s", "l"]);
  await clock.advance(1);
  expect([map.get("short"), map.get("long")]).toEqual([undefined, "l"]);
});

it("a use does not prolong a life, setting again does", async () => {
  const clock = new VirtualClock();
  const map = new TtlMap<string, string>(10, clock);
  map.set("a", "1", 1000);
  map.set("b", "1", 1000);
  await clock.advance(600);
  map.get("a");
  map.set("b", "2", 1000);
  await clock.advance(600);
  expect([map.get("a"), map.get("b")]).toEqual([undefined, "2"]);
});

it("without a time to live, nothing is kept and what was there is forgotten", () => {
  const map = new TtlMap<string, string>(10, new VirtualClock());
  map.set("a", "1", 1000);
  map.set("a", "2", 0);
  expect(map.get("a")).toBeUndefined();
});

it("evicts the least recently used entry when it is full", () => {
  const map = new TtlMap<string, number>(2, new VirtualClock());
  map.set("a", 1, 1000);
  map.set("b", 2, 1000);
  map.get("a");
  map.set("c", 3, 1000);
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([1, undefined, 3]);
});
