import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, StatusError } from "#api";
import { testControllers } from "../testing/index.ts";
import { endpointSliceMirroring } from "./index.ts";
import { planMirror } from "./plan.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const endpoints = (subsets: core.EndpointSubset[], metadata: core.Endpoints["metadata"] = {}): core.Endpoints => ({
  metadata: { name: "db", namespace: "default", ...metadata },
  subsets,
});
const two: core.EndpointSubset[] = [
  { addresses: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }], ports: [{ port: 5432 }] },
  { notReadyAddresses: [{ ip: "10.0.0.2", hostname: "two" }], ports: [{ port: 5432 }] },
];

async function cluster(server?: Awaited<ReturnType<typeof testControllers>>["server"]) {
  const running = await testControllers([endpointSliceMirroring], { server });
  open.push(() => running.close());
  const { client, settle } = running;
  if (server === undefined) await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  const services = client.of(kinds.Service).in("default");
  const sources = client.of(kinds.Endpoints).in("default");
  const slices = async () => {
    await settle();
    return (await client.of(kinds.EndpointSlice).in("default").list()).items;
  };
  const shown = async () =>
    (await slices())
      .map(({ addressType, ports, endpoints: all }) =>
        [
          addressType,
          ports?.[0]?.port,
          ...(all ?? []).map(({ addresses, conditions }) => `${addresses} ${conditions?.ready}`),
        ].join(" "),
      )
      .sort();
  return { ...running, services, sources, slices, shown };
}

const service: core.Service = { metadata: { name: "db" }, spec: { clusterIP: "10.96.0.9", ports: [{ port: 5432 }] } };

describe("Endpoints that a user wrote", () => {
  it("are mirrored, one slice for each family and set of ports", async () => {
    const { services, sources, slices, shown } = await cluster();
    await sources.create(endpoints(two, { labels: { team: "a" }, annotations: { note: "x" } }));
    expect(await shown()).toEqual([]);
    await services.create(service);
    expect(await shown()).toEqual(["IPv4 5432 10.0.0.1 true 10.0.0.2 false", "IPv6 5432 fd00::1 true"]);
    expect((await slices())[0]?.metadata).toMatchObject({
      generateName: "db-",
      labels: {
        team: "a",
        "kubernetes.io/service-name": "db",
        "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
      },
      annotations: { note: "x" },
      ownerReferences: [
        { apiVersion: "v1", kind: "Endpoints", name: "db", controller: true, blockOwnerDeletion: true },
      ],
    });
  });

  it("are followed as they change", async () => {
    const { services, sources, shown, writes, clock } = await cluster();
    await services.create(service);
    await sources.create(endpoints(two));
    await shown();
    const current = await sources.get("db");
    await sources.update({ ...current, subsets: [{ addresses: [{ ip: "10.0.0.3" }], ports: [{ port: 1 }] }] });
    expect(await shown()).toEqual(["IPv4 1 10.0.0.3 true"]);
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });

  it.each([
    ["that asks not to be mirrored", { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } }],
    ["that holds a lease", { annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } }],
  ])("have no mirror: one %s", async (_, metadata) => {
    const { services, sources, shown } = await cluster();
    await services.create(service);
    await sources.create(endpoints(two));
    expect(await shown()).toHaveLength(2);
    await sources.patch("db", { type: "merge", object: { metadata } });
    expect(await shown()).toEqual([]);
  });

  it("have no mirror any more when the Service selects Pods, or goes", async () => {
    const { services, sources, shown } = await cluster();
    await services.create(service);
    await sources.create(endpoints(two));
    expect(await shown()).toHaveLength(2);
    await services.patch("db", { type: "merge", object: { spec: { selector: { app: "db" } } } });
    expect(await shown()).toEqual([]);
  });

  it("are mirrored after failures, and from a stop after any write", async () => {
    for (let limit = 1; limit <= 3; limit++) {
      const first = await cluster();
      let count = 0;
      first.refuse(({ method }) => {
        if (method === "GET") return undefined;
        if (++count === limit) void first.stop();
        return count === 1 ? new StatusError("InternalError", "not now") : undefined;
      });
      await first.services.create(service);
      await first.sources.create(endpoints(two));
      await first.settle();
      await first.stop();
      const second = await cluster(first.server);
      await second.clock.advance(60_000);
      expect(await second.shown()).toHaveLength(2);
    }
  });
});

describe("a plan for a mirror", () => {
  it("leaves out what is no address, and what is too much, and says so", () => {
    const addresses = Array.from({ length: 1002 }, (_, at) => ({
      ip: at === 0 ? "0-bad" : `10.0.${at >> 8}.${at & 255}`,
    }));
    const { steps = [], events = [] } = planMirror(endpoints([{ addresses }]), []);
    expect(steps.flat()[0]?.object).toMatchObject({ endpoints: { length: 1000 } });
    expect(events.map(({ reason, note }) => `${reason} ${note}`)).toEqual([
      "InvalidIPAddress Skipped 1 invalid IP addresses when mirroring to EndpointSlices",
      "TooManyAddressesToMirror A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped",
    ]);
    const [write] = planMirror(endpoints([{ addresses }]), [], 10).steps?.flat() ?? [];
    expect(write?.object).toMatchObject({ endpoints: { length: 10 } });
  });
});
