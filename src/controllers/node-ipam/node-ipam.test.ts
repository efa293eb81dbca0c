import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { contains, kinds, parseCidr, StatusError } from "#api";
import { seededRandom } from "#base";
import { type TestControllers, testControllers } from "../testing/index.ts";
import { CidrPool } from "./cidr-pool.ts";
import { type NodeCidrsOptions, nodeIpamController } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

describe("a pool of ranges", () => {
  it.each([
    { cidr: "10.244.0.0/16", prefix: 24, size: 256, first: "10.244.0.0/24", second: "10.244.1.0/24" },
    { cidr: "10.244.7.9/22", prefix: 24, size: 4, first: "10.244.4.0/24", second: "10.244.5.0/24" },
    { cidr: "10.0.0.0/24", prefix: 26, size: 4, first: "10.0.0.0/26", second: "10.0.0.64/26" },
    { cidr: "fd00::/48", prefix: 64, size: 65_536, first: "fd00::/64", second: "fd00:0:0:1::/64" },
  ])("$cidr in blocks of /$prefix", ({ cidr, prefix, size, first, second }) => {
    const pool = new CidrPool(cidr, prefix);
    expect([pool.size, pool.takeNext(), pool.takeNext()]).toEqual([size, first, second]);
  });

  it.each([
    ["nonsense", 24, "nonsense is not a CIDR"],
    ["10.0.0.0/24", 16, "blocks of size /16 do not fit into 10.0.0.0/24"],
    ["10.0.0.0/24", 33, "blocks of size /33 do not fit into 10.0.0.0/24"],
    ["fd00::/16", 64, "fd00::/16 has too many blocks of size /64"],
  ])("%s in blocks of /%i is refused", (cidr, prefix, message) => {
    expect(() => new CidrPool(cidr, prefix)).toThrow(message);
  });

  it("gives what was freed again last, and knows when it is empty", () => {
    const pool = new CidrPool("10.0.0.0/22", 24);
    expect([pool.takeNext(), pool.takeNext()]).toEqual(["10.0.0.0/24", "10.0.1.0/24"]);
    pool.free("10.0.0.0/24");
    expect([pool.takeNext(), pool.takeNext(), pool.takeNext(), pool.takeNext()]).toEqual([
      "10.0.2.0/24",
      "10.0.3.0/24",
      "10.0.0.0/24",
      undefined,
    ]);
  });

  it("takes all that a larger or smaller range touches, and nothing of others", () => {
    const pool = new CidrPool("10.0.0.0/22", 24);
    expect(pool.take("10.0.0.0/23")).toBe(true);
    expect(pool.take("10.0.2.128/25")).toBe(true);
    expect(pool.take("192.168.0.0/16")).toBe(false);
    expect(pool.take("fd00::/64")).toBe(false);
    expect([pool.takeNext(), pool.takeNext()]).toEqual(["10.0.3.0/24", undefined]);
    expect(new CidrPool("10.0.0.0/22", 24).take("0.0.0.0/0")).toBe(true);
  });

  it("never gives a block twice, nor one that overlaps what is taken", () => {
    const step = fc.oneof(
      fc.constant({ do: "next" } as const),
      fc.record({ do: fc.constant("take" as const), at: fc.nat(15), length: fc.integer({ min: 22, max: 26 }) }),
      fc.record({ do: fc.constant("free" as const), at: fc.nat(30) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const pool = new CidrPool("10.0.0.0/20", 24);
        const held: string[] = [];
        for (const each of steps) {
          if (each.do === "next") {
            const given = pool.takeNext();
            if (given === undefined) expect(new Set(held.flatMap(blocks)).size).toBe(16);
            else {
              for (const other of held) expect(overlap(given, other)).toBe(false);
              held.push(given);
            }
          } else if (each.do === "take") {
            const cidr = `10.0.${each.at}.0/${each.length}`;
            pool.take(cidr);
            held.push(cidr);
          } else {
            const [freed] = held.splice(each.at % Math.max(1, held.length), 1);
            if (freed !== undefined) pool.free(freed);
          }
        }
      }),
    );
  });
});

function overlap(a: string, b: string): boolean {
  const [first, second] = [parseCidr(a), parseCidr(b)];
  if (first === undefined || second === undefined) throw new Error("not a CIDR");
  return contains(first, second) || contains(second, first);
}

function blocks(cidr: string): readonly number[] {
  return Array.from({ length: 16 }, (_, at) => at).filter((at) => overlap(`10.0.${at}.0/24`, cidr));
}

async function cluster(options: Partial<NodeCidrsOptions> = {}, server?: TestControllers["server"]) {
  const running = await testControllers([nodeIpamController(options)], { server });
  open.push(() => running.close());
  const nodes = running.client.of(kinds.Node);
  const add = (name: string, podCIDR?: string) =>
    nodes.create({ metadata: { name }, spec: podCIDR === undefined ? {} : { podCIDR, podCIDRs: [podCIDR] } });
  const cidrs = async () => {
    await running.settle();
    const { items } = await nodes.list();
    return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec?.podCIDRs?.join() ?? ""]));
  };
  return { ...running, nodes, add, cidrs };
}

const FOUR: Partial<NodeCidrsOptions> = { clusterCidrs: ["10.0.0.0/22"] };

describe("nodes", () => {
  it("get a range each, and keep it", async () => {
    const { add, cidrs, nodes, clock, writes } = await cluster();
    await add("a");
    await add("b");
    expect(await cidrs()).toEqual({ a: "10.244.0.0/24", b: "10.244.1.0/24" });
    expect((await nodes.get("a")).spec?.podCIDR).toBe("10.244.0.0/24");
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });

  it("get one of each family", async () => {
    const { add, cidrs } = await cluster({ clusterCidrs: ["10.244.0.0/16", "fd00:10:244::/56"] });
    await add("a");
    expect(await cidrs()).toEqual({ a: "10.244.0.0/24,fd00:10:244::/64" });
  });

  it.each([
    [["10.0.0.0/16", "10.1.0.0/16"], "10.0.0.0/16,10.1.0.0/16: at most one CIDR of each IP family"],
    [["10.0.0.0/25"], "blocks of size /24 do not fit into 10.0.0.0/25"],
  ])("cannot have any of %j", (clusterCidrs, message) => {
    expect(() => nodeIpamController({ clusterCidrs })).toThrow(message);
  });

  it("are left to others where there is no range", async () => {
    const { add, cidrs } = await cluster({ clusterCidrs: [] });
    await add("a");
    expect(await cidrs()).toEqual({ a: "" });
  });

  it("get none that another has, nor one of the services", async () => {
    const first = await cluster(FOUR);
    await first.stop();
    await first.add("a");
    await first.add("old", "10.0.0.0/24");
    const { cidrs, add } = await cluster({ ...FOUR, serviceCidrs: ["10.0.1.0/24"] }, first.server);
    await add("b");
    expect(await cidrs()).toEqual({ a: "10.0.2.0/24", b: "10.0.3.0/24", old: "10.0.0.0/24" });
  });

  it("are told when there is none left, and get one when another goes", async () => {
    const { add, cidrs, nodes, client } = await cluster(FOUR);
    for (const name of ["a", "b", "c", "d", "e"]) await add(name);
    expect((await cidrs()).e).toBe("");
    const told = (await client.of(kinds.Event).list()).items.map(({ reason, note }) => `${reason}: ${note}`);
    expect(told).toEqual(["CIDRNotAvailable: Node e status is now: CIDRNotAvailable"]);
    await nodes.delete("b");
    expect((await cidrs()).e).toBe("10.0.1.0/24");
  });

  it("get one each whatever fails, and after the controller was killed between any two writes", async () => {
    for (let limit = 1; limit <= 4; limit++) {
      const first = await cluster(FOUR);
      const random = seededRandom(limit);
      let count = 0;
      first.refuse(({ method, path }) => {
        if (method === "GET" || path.includes("events")) return undefined;
        if (++count === limit) void first.stop();
        return random.integer(2) === 0 ? new StatusError("Conflict", "not now") : undefined;
      });
      for (const name of ["a", "b", "c", "d"]) await first.add(name);
      await first.clock.advance(1_000);
      await first.stop();
      const second = await cluster(FOUR, first.server);
      await second.clock.advance(1_000);
      expect(Object.values(await second.cidrs()).sort()).toEqual([
        "10.0.0.0/24",
        "10.0.1.0/24",
        "10.0.2.0/24",
        "10.0.3.0/24",
      ]);
    }
  });
});
