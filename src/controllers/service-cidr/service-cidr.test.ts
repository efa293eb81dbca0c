import { afterEach, describe, expect, it } from "vitest";
import { kinds, type networking, StatusError } from "#api";
import { seededRandom } from "#base";
import { type TestControllers, testControllers } from "../testing/index.ts";
import { serviceCidrController } from "./index.ts";
import { leavesOrphans, overlap } from "./plan.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const range = (...cidrs: string[]): networking.ServiceCIDR => ({ metadata: { name: "r" }, spec: { cidrs } });

describe("addresses that a range would leave behind", () => {
  it.each([
    { name: "none", cidrs: ["10.0.0.0/24"], others: [], addresses: [], want: false },
    { name: "one", cidrs: ["10.0.0.0/24"], others: [], addresses: ["10.0.0.7"], want: true },
    { name: "one of another range", cidrs: ["10.0.0.0/24"], others: [], addresses: ["10.0.1.7"], want: false },
    {
      name: "one that a larger range has",
      cidrs: ["10.0.0.0/24"],
      others: ["10.0.0.0/16"],
      addresses: ["10.0.0.7"],
      want: false,
    },
    {
      name: "one that an equal range has",
      cidrs: ["10.0.0.0/24"],
      others: ["10.0.0.0/24"],
      addresses: ["10.0.0.7"],
      want: false,
    },
    {
      name: "one that a smaller range has",
      cidrs: ["10.0.0.0/24"],
      others: ["10.0.0.0/28"],
      addresses: ["10.0.0.7"],
      want: false,
    },
    {
      name: "one that a smaller range has not",
      cidrs: ["10.0.0.0/24"],
      others: ["10.0.0.0/28"],
      addresses: ["10.0.0.70"],
      want: true,
    },
    {
      name: "one of the second family",
      cidrs: ["10.0.0.0/24", "fd00::/112"],
      others: ["10.0.0.0/16"],
      addresses: ["fd00::5"],
      want: true,
    },
  ])("$name: $want", ({ cidrs, others, addresses, want }) => {
    expect(
      leavesOrphans(
        range(...cidrs),
        others.map((cidr) => range(cidr)),
        () => addresses,
      ),
    ).toBe(want);
  });

  it("overlap", () => {
    expect(overlap(range("10.0.0.0/24"), range("10.0.0.0/16"))).toBe(true);
    expect(overlap(range("10.0.0.0/24"), range("10.0.1.0/24"))).toBe(false);
  });
});

async function cluster(server?: TestControllers["server"]) {
  const running = await testControllers([serviceCidrController], { server });
  open.push(() => running.close());
  const { client } = running;
  const ranges = client.of(kinds.ServiceCIDR);
  const addresses = client.of(kinds.IPAddress);
  const create = (name: string, ...cidrs: string[]) => ranges.create({ metadata: { name }, spec: { cidrs } });
  const take = (name: string) =>
    addresses.create({
      metadata: {
        name,
        labels: {
          "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
          "ipaddress.kubernetes.io/ip-family": "IPv4",
        },
      },
      spec: { parentRef: { resource: "services", namespace: "default", name: "s" } },
    });
  const names = async () => {
    await running.settle();
    return (await ranges.list()).items.map(({ metadata }) => metadata.name);
  };
  return { ...running, ranges, addresses, create, take, names };
}

describe("ranges of service addresses", () => {
  it("are held and ready, and nothing is written after that", async () => {
    const { create, ranges, settle, writes, clock } = await cluster();
    await create("a", "10.0.0.0/24");
    await settle();
    expect(await ranges.get("a")).toMatchObject({
      metadata: { finalizers: ["networking.k8s.io/service-cidr-finalizer"] },
      status: {
        conditions: [{ type: "Ready", status: "True", reason: "", message: "Kubernetes Service CIDR is ready" }],
      },
    });
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });

  it("go after ten seconds", async () => {
    const { create, ranges, names, clock, settle } = await cluster();
    await create("a", "10.0.0.0/24");
    await settle();
    await ranges.delete("a");
    await clock.advance(9_000);
    expect(await names()).toEqual(["a"]);
    await clock.advance(2_000);
    expect(await names()).toEqual([]);
  });

  it("stay while a Service has an address of them, and say so", async () => {
    const { create, take, ranges, addresses, names, clock, settle } = await cluster();
    await create("a", "10.0.0.0/24");
    await take("10.0.0.7");
    await settle();
    await ranges.delete("a");
    await clock.advance(60_000);
    expect((await ranges.get("a")).status?.conditions).toMatchObject([
      {
        type: "Ready",
        status: "False",
        reason: "Terminating",
        message:
          "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
      },
    ]);
    await addresses.delete("10.0.0.7");
    expect(await names()).toEqual([]);
  });

  it("go when a new range takes their addresses over", async () => {
    const { create, take, ranges, names, clock, settle } = await cluster();
    await create("a", "10.0.0.0/24");
    await take("10.0.0.7");
    await settle();
    await ranges.delete("a");
    await clock.advance(60_000);
    expect(await names()).toEqual(["a"]);
    await create("b", "10.0.0.0/16");
    expect(await names()).toEqual(["b"]);
  });

  it("do not count on one that is to go as well", async () => {
    const { create, take, ranges, names, clock, settle } = await cluster();
    await create("a", "10.0.0.0/24");
    await create("b", "10.0.0.0/16");
    await take("10.0.0.7");
    await settle();
    await ranges.delete("a");
    await ranges.delete("b");
    await clock.advance(60_000);
    expect(await names()).toEqual(["a", "b"]);
  });

  it("end up right after being killed between any two writes, whatever fails", async () => {
    for (let limit = 1; limit <= 4; limit++) {
      const first = await cluster();
      const random = seededRandom(limit);
      let count = 0;
      first.refuse(({ method, path }) => {
        if (method === "GET" || path.includes("events")) return undefined;
        if (++count === limit) void first.stop();
        return random.integer(2) === 0 ? new StatusError("InternalError", "not now") : undefined;
      });
      await first.create("a", "10.0.0.0/24");
      await first.create("b", "10.1.0.0/24");
      await first.settle();
      await first.ranges.delete("b");
      await first.clock.advance(20_000);
      await first.stop();
      const second = await cluster(first.server);
      await second.clock.advance(20_000);
      expect(await second.names()).toEqual(["a"]);
      expect((await second.ranges.get("a")).status?.conditions).toMatchObject([{ type: "Ready", status: "True" }]);
    }
  });
});
