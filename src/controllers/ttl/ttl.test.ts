import { afterEach, describe, expect, it } from "vitest";
import { kinds } from "#api";
import { testControllers } from "../testing/index.ts";
import { ttlController, ttlSeconds } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

describe("the time that nodes keep what they have read", () => {
  it.each([
    [1, undefined, 0],
    [100, undefined, 0],
    [101, "0", 15],
    [95, "15", 15],
    [89, "15", 0],
    [600, "15", 30],
    [1500, "0", 60],
    [5000, "60", 300],
    [3, "nonsense", 0],
  ])("with %i nodes, and %s now", (nodes, current, want) => {
    expect(ttlSeconds(nodes, current)).toBe(want);
  });

  it("follows the size of the cluster, and is written only when it changes", async () => {
    const running = await testControllers([ttlController]);
    open.push(() => running.close());
    const { client, settle, writes, clock } = running;
    const nodes = client.of(kinds.Node);
    for (let at = 0; at < 100; at++) await nodes.create({ metadata: { name: `n${at}` } });
    await settle();
    const values = async () => [
      ...new Set(
        (await nodes.list()).items.map(({ metadata }) => metadata.annotations?.["node.alpha.kubernetes.io/ttl"]),
      ),
    ];
    expect(await values()).toEqual(["0"]);
    await nodes.create({ metadata: { name: "one-more" } });
    await settle();
    expect(await values()).toEqual(["15"]);
    const before = writes();
    await nodes.delete("one-more");
    await clock.advance(3600_000);
    expect(await values()).toEqual(["15"]);
    expect(writes()).toBe(before);
  });
});
