import { expect, it } from "vitest";
import { LastAsked } from "./last-asked.ts";

it("knows what was found out for the last user and topic, and for no others", () => {
  const last = new LastAsked<string>();
  const [ann, bob, pods, nodes] = [{}, {}, {}, {}];
  expect(last.get(ann, pods)).toBeUndefined();
  last.set(ann, pods, "yes");
  expect([last.get(ann, pods), last.get(bob, pods), last.get(ann, nodes)]).toEqual(["yes", undefined, undefined]);
  last.set(bob, nodes, "no");
  expect([last.get(ann, pods), last.get(bob, nodes)]).toEqual([undefined, "no"]);
  last.forget();
  expect(last.get(bob, nodes)).toBeUndefined();
});
