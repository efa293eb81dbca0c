import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, StatusError } from "#api";
import { podWith, testControllers } from "../testing/index.ts";
import { truncated } from "./capacity.ts";
import { endpointsController } from "./index.ts";
import { type Offer, offersOf, subsetsOf } from "./subsets.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const labels = { app: "web" };
const service = (name: string, spec: core.ServiceSpec = {}): core.Service => ({
  metadata: { name, namespace: "default", labels: { team: "a" } },
  spec: { selector: labels, clusterIP: "10.96.0.10", ports: [{ port: 80, targetPort: 8080 }], ...spec },
});

async function cluster(server?: Awaited<ReturnType<typeof testControllers>>["server"]) {
  const running = await testControllers([endpointsController], { server });
  open.push(() => running.close());
  const { client, settle } = running;
  if (server === undefined) await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  const pods = client.of(kinds.Pod).in("default");
  const services = client.of(kinds.Service).in("default");
  const endpoints = client.of(kinds.Endpoints).in("default");
  const runs = async (name: string, ip: string, ready = true) => {
    const made = await pods.create({
      metadata: { name, namespace: "default", labels },
      spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] },
    });
    const { status } = podWith(name, { ready });
    await pods.updateStatus({ ...made, status: { ...status, podIP: ip, podIPs: [{ ip }] } });
  };
  const all = async () => {
    await settle();
    return (await endpoints.list()).items;
  };
  return { ...running, pods, services, endpoints, runs, all };
}

describe("the Endpoints of a Service", () => {
  it("say where its Pods are", async () => {
    const { services, runs, all } = await cluster();
    await runs("a", "10.0.0.1");
    await runs("b", "10.0.0.2", false);
    await services.create(service("web", { clusterIP: "None" }));
    const [found] = await all();
    const reference = (name: string) => ({ kind: "Pod", namespace: "default", name, uid: expect.any(String) });
    expect(found?.subsets).toEqual([
      {
        addresses: [{ ip: "10.0.0.1", nodeName: "n", targetRef: reference("a") }],
        notReadyAddresses: [{ ip: "10.0.0.2", nodeName: "n", targetRef: reference("b") }],
        ports: [{ port: 8080, protocol: "TCP" }],
      },
    ]);
    expect(found?.metadata).toMatchObject({
      name: "web",
      labels: {
        team: "a",
        "service.kubernetes.io/headless": "",
        "endpoints.kubernetes.io/managed-by": "endpoint-controller",
      },
      annotations: { "endpoints.kubernetes.io/last-change-trigger-time": expect.any(String) },
    });
  });

  it("follow Pods and labels, and come back when deleted", async () => {
    const { services, pods, endpoints, runs, all, writes, clock } = await cluster();
    await services.create(service("web"));
    expect((await all())[0]?.subsets).toBeUndefined();
    await runs("a", "10.0.0.1");
    expect((await all())[0]?.subsets?.[0]?.addresses).toHaveLength(1);
    await services.patch("web", { type: "merge", object: { metadata: { labels: { team: "b" } } } });
    expect((await all())[0]?.metadata.labels?.team).toBe("b");
    await endpoints.delete("web");
    expect((await all())[0]?.subsets?.[0]?.addresses).toHaveLength(1);
    await pods.delete("a", { gracePeriodSeconds: 30 });
    expect((await all())[0]?.subsets).toBeUndefined();
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });

  it("go with it, also if nobody saw it go, and those that never had one stay", async () => {
    const first = await cluster();
    await first.services.create(service("web"));
    await first.services.create(service("other"));
    await first.all();
    await first.services.delete("web");
    await first.endpoints.create({ metadata: { name: "early" } });
    expect((await first.all()).map(({ metadata }) => metadata.name)).toEqual(["early", "other"]);
    await first.endpoints.delete("early");
    await first.stop();
    await first.services.delete("other");
    const second = await cluster(first.server);
    expect(await second.all()).toEqual([]);
  });

  it("are tried again, and the failure is told", async () => {
    const { services, all, client, refuse, clock } = await cluster();
    refuse(({ method, path }) =>
      method === "POST" && path.endsWith("/endpoints") ? new StatusError("Forbidden", "no room") : undefined,
    );
    await services.create(service("web"));
    expect(await all()).toEqual([]);
    expect((await client.of(kinds.Event).list()).items).toMatchObject([
      { reason: "FailedToCreateEndpoint", note: "Failed to create endpoint for service default/web: no room" },
    ]);
    refuse(() => undefined);
    await clock.advance(60_000);
    expect(await all()).toHaveLength(1);
  });
});

describe("subsets", () => {
  const address = (name: string) => ({ ip: `ip-${name}`, targetRef: { uid: name } });
  const port = (number: number) => ({ port: number, protocol: "TCP" as const });

  it("list ports that the same addresses have together", () => {
    const offers = [
      { address: address("a"), port: port(80), ready: true },
      { address: address("b"), port: port(80), ready: false },
      { address: address("a"), port: port(443), ready: true },
      { address: address("b"), port: port(444), ready: false },
      { address: address("a"), port: port(81), ready: true },
      { address: address("b"), port: port(81), ready: false },
    ];
    expect(subsetsOf(offers)).toEqual([
      { addresses: [address("a")], notReadyAddresses: [address("b")], ports: [port(80), port(81)] },
      { addresses: [address("a")], ports: [port(443)] },
      { notReadyAddresses: [address("b")], ports: [port(444)] },
    ]);
  });

  it("say each address with each of its ports exactly once", () => {
    const offer = fc.record({ name: fc.constantFrom("a", "b", "c", "d"), port: fc.integer({ min: 1, max: 4 }) });
    fc.assert(
      fc.property(fc.uniqueArray(offer, { selector: ({ name, port: n }) => `${name} ${n}` }), (all) => {
        const offers = all.map(
          ({ name, port: n }): Offer => ({ address: address(name), port: port(n), ready: name < "c" }),
        );
        const shown = (each: readonly Offer[]) =>
          each.map((one) => JSON.stringify([one.address.ip, one.port, one.ready])).sort();
        expect(shown(offersOf(subsetsOf(offers)))).toEqual(shown(offers));
      }),
    );
  });

  it("are cut to what an object may have, the ready ones first, in proportion", () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => ({ ip: `${at}` }));
    const sizes = (subsets: ReturnType<typeof truncated>) =>
      subsets?.map(({ addresses = [], notReadyAddresses = [] }) => [addresses.length, notReadyAddresses.length]);
    expect(truncated([{ addresses: many(10) }], 10)).toBeUndefined();
    expect(
      sizes(truncated([{ addresses: many(20) }, { addresses: many(10), notReadyAddresses: many(5) }], 10)),
    ).toEqual([
      [7, 0],
      [3, 0],
    ]);
    expect(
      sizes(truncated([{ addresses: many(4), notReadyAddresses: many(10) }, { notReadyAddresses: many(10) }], 10)),
    ).toEqual([
      [4, 3],
      [0, 3],
    ]);
  });
});
