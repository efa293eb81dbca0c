import { describe, expect, it } from "vitest";
import type { core, networking } from "#api";
import { settled, VirtualClock } from "#base";
import { openMemoryStore } from "#store";
import { bootstrap } from "./bootstrap.ts";
import { countedAddresses } from "./endpoint-addresses.ts";
import { Membership, type MembershipOptions } from "./membership.ts";
import { type TestServer, type TestServerOptions, testServer } from "./testing/server.ts";

const own = { hostname: "one", port: 6443, address: "192.0.2.10", uid: "u1" };
const other = { hostname: "two", port: 6443, address: "192.0.2.9", uid: "u2" };

async function started(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await testServer(options);
  await bootstrap(server.context, server.resources, options);
  return server;
}
const member = (server: TestServer, options: Partial<MembershipOptions> = {}) =>
  new Membership({ ...server, identity: own, ...options });

function published(server: TestServer): readonly string[] | undefined {
  const found = server.get("", "endpoints", "default/kubernetes") as core.Endpoints | undefined;
  const slice = server.get("discovery.k8s.io", "endpointslices", "default/kubernetes") as
    | { readonly endpoints?: readonly { readonly addresses: readonly string[] }[] }
    | undefined;
  const addresses = found && (found.subsets?.[0]?.addresses ?? []).map(({ ip }) => ip);
  expect(slice && (slice.endpoints ?? []).flatMap(({ addresses: all }) => all)).toEqual(addresses);
  return addresses;
}
const serviceOf = (server: TestServer) => server.get("", "services", "default/kubernetes") as core.Service;

describe("the Service of the API", () => {
  it("has no endpoints where the server is on the loopback device only", async () => {
    await using server = await started();
    await member(server, { identity: { ...own, address: "127.0.0.1" } }).join();
    expect(published(server)).toBeUndefined();
    expect(serviceOf(server).spec?.clusterIP).toBe("10.96.0.1");
    const range = server.get("networking.k8s.io", "servicecidrs", "kubernetes") as networking.ServiceCIDR;
    expect(range.spec?.cidrs).toEqual(["10.96.0.0/12"]);
  });

  it("is of type NodePort with --kubernetes-service-node-port, and of type ClusterIP again without", async () => {
    await using server = await started({ nodePorts: { first: 40_000, last: 40_010 } });
    await member(server).join();
    expect(serviceOf(server).spec).toMatchObject({ type: "ClusterIP" });
    await member(server, { nodePort: 40_003 }).join();
    const ports = [{ name: "https", protocol: "TCP", port: 443, targetPort: 6443, nodePort: 40_003 }];
    expect(serviceOf(server).spec).toMatchObject({ type: "NodePort", ports });
    const { resourceVersion } = serviceOf(server).metadata ?? {};
    await member(server, { nodePort: 40_003 }).join();
    expect(serviceOf(server).metadata?.resourceVersion).toBe(resourceVersion);
    await member(server).join();
    expect(serviceOf(server).spec?.type).toBe("ClusterIP");
    expect(serviceOf(server).spec?.ports?.[0]?.nodePort).toBeUndefined();
  });

  it("has the servers whose lease is renewed as endpoints", async () => {
    const clock = new VirtualClock();
    await using server = await started({ clock });
    await member(server, { identity: other }).join();
    const stopping = new AbortController();
    const one = member(server);
    await one.join();
    expect(published(server)).toEqual(["192.0.2.10", "192.0.2.9"]);
    const keeping = one.keep(stopping.signal);
    await clock.advance(10_000);
    await settled();
    expect(published(server)).toEqual(["192.0.2.10", "192.0.2.9"]);
    await clock.advance(10_000);
    await settled();
    expect(published(server)).toEqual(["192.0.2.10"]);
    await member(server, { identity: other }).join();
    await clock.advance(10_000);
    await settled();
    expect(published(server)).toEqual(["192.0.2.10", "192.0.2.9"]);
    stopping.abort();
    await keeping;
  });

  it("does not have a server whose lease expired long ago", async () => {
    const clock = new VirtualClock();
    await using server = await started({ clock });
    await member(server, { identity: other }).join();
    await clock.advance(3_601_000);
    await member(server).join();
    expect(published(server)).toEqual(["192.0.2.10"]);
  });

  it("is put right when somebody changes it", async () => {
    const clock = new VirtualClock();
    await using server = await started({ clock });
    const one = member(server);
    await one.join();
    const stopping = new AbortController();
    const keeping = one.keep(stopping.signal);
    const { resource } = server;
    await server.context.store.delete(
      "/registry/core/endpoints/default/kubernetes",
      resource("", "endpoints").cache.get("default/kubernetes")?.revision ?? 0,
    );
    await settled();
    expect(server.get("", "endpoints", "default/kubernetes")).toBeUndefined();
    await clock.advance(10_000);
    await settled();
    expect(published(server)).toEqual(["192.0.2.10"]);
    stopping.abort();
    await keeping;
  });

  it("loses the address of a server that leaves, if there may be others", async () => {
    const clock = new VirtualClock();
    const store = openMemoryStore({ clock });
    {
      await using server = await started({ clock, store });
      const members = [member(server), member(server, { identity: other })];
      for (const each of members) await each.join();
      await members[0]?.leave();
      expect(published(server)).toEqual(["192.0.2.9"]);
      await members[1]?.leave();
      expect(published(server)).toEqual([]);
    }
    await store.close();
    await using alone = await started();
    const only = member(alone);
    await only.join();
    await only.leave();
    expect(published(alone)).toEqual(["192.0.2.10"]);
  });
});

describe("a store that does not answer", () => {
  it("holds up neither the renewal's end nor the leave", async () => {
    const clock = new VirtualClock();
    let answers = true;
    const store = openMemoryStore({ clock });
    const { update } = store;
    const never = new Promise<never>(() => {});
    store.update = (...args) => (answers ? update.apply(store, args) : never);
    await using server = await started({ clock, store });
    const one = member(server);
    await one.join();
    answers = false;
    const stopping = new AbortController();
    const keeping = one.keep(stopping.signal);
    await clock.advance(10_000);
    await settled();
    stopping.abort();
    await keeping;
    const leaving = one.leave();
    await clock.advance(2_000);
    await leaving;
    expect(published(server)).toEqual(["192.0.2.10"]);
    answers = true;
  });
});

describe("--endpoint-reconciler-type", () => {
  it("master-count keeps what is there, up to the count, whether it is alive or not", async () => {
    const clock = new VirtualClock();
    await using server = await started({ clock });
    const both = { reconciler: "master-count", count: 2 } as const;
    await member(server, { ...both, identity: other }).join();
    await clock.advance(3_601_000);
    await member(server, both).join();
    expect(published(server)).toEqual(["192.0.2.10", "192.0.2.9"]);
    await member(server, { reconciler: "master-count" }).join();
    expect(published(server)).toEqual(["192.0.2.10"]);
  });

  it("none leaves endpoints to others", async () => {
    await using server = await started();
    await member(server, { reconciler: "none" }).join();
    expect(published(server)).toBeUndefined();
    expect(serviceOf(server).spec?.type).toBe("ClusterIP");
  });

  it.each([
    { present: [], own: "b", count: 1, want: ["b"] },
    { present: ["a", "b"], own: "b", count: 2, want: ["a", "b"] },
    { present: ["a", "c"], own: "b", count: 2, want: ["a", "b"] },
    { present: ["a", "b"], own: "c", count: 2, want: ["b", "c"] },
    { present: ["a", "b", "c"], own: "c", count: 1, want: ["c"] },
    { present: ["c", "a"], own: "b", count: 3, want: ["a", "b", "c"] },
  ])("counts $present and $own up to $count", ({ present, own: address, count, want }) => {
    expect(countedAddresses(present, address, count)).toEqual(want);
  });
});
