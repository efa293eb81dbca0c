import { afterEach, describe, expect, it } from "vitest";
import { type coordination, kinds } from "#api";
import { silentLogger, TaskGroup } from "#base";
import { Holders, steppingAside } from "./stepping-aside.ts";
import { volumeStory } from "./testing/story.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const lease = (holderIdentity: string, namespace = "storage"): coordination.Lease => ({
  metadata: { name: "external-resizer-example-com", namespace },
  spec: { holderIdentity, leaseDurationSeconds: 15 },
});

describe("holders", () => {
  it.each<[string, coordination.Lease[], number]>([
    ["nobody", [], 0],
    ["a lease that was given back", [lease("")], 0],
    ["this process", [lease("me")], 0],
    ["another one", [lease("other")], 15_000],
    ["another one in another namespace", [lease("me"), lease("other", "x")], 15_000],
  ])("%s", (_, leases, want) => {
    const holders = new Holders((holder) => holder === "me");
    for (const each of leases) holders.saw(each, 1_000);
    expect(holders.foreignMs(1_000)).toBe(want);
    expect(holders.foreignMs(16_000)).toBe(0);
  });
});

it("works until somebody else holds the lease, and again when that one is gone", async () => {
  const { client, clock, random, settle, close, pass } = await volumeStory([]);
  open.push(close);
  const tasks = new TaskGroup();
  open.push(() => tasks.stop());
  const log: string[] = [];
  const { name = "" } = lease("").metadata;
  const options = { client, lease: name, isOwn: () => false, clock, random, log: silentLogger };
  tasks.run("aside", (signal) =>
    steppingAside(options, signal, async (term) => {
      log.push("works");
      await new Promise<void>((resolve) => term.addEventListener("abort", () => resolve(), { once: true }));
      log.push("ends");
    }),
  );
  await settle();
  expect(log).toEqual(["works"]);
  await client.of(kinds.Namespace).create({ metadata: { name: "storage" } });
  const leases = client.of(kinds.Lease).in("storage");
  await leases.create(lease("upstream"));
  await settle();
  expect(log).toEqual(["works", "ends"]);
  await pass(10_000);
  await leases.patch(name, { type: "merge", object: { spec: { leaseTransitions: 1 } } });
  await pass(10_000);
  expect(log).toEqual(["works", "ends"]);
  await pass(6_000);
  expect(log).toEqual(["works", "ends", "works"]);
});
