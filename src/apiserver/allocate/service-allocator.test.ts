import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type core, isStatusError, type Json, type networking } from "#api";
import { MetricsRegistry, realClock, seededRandom, silentLogger } from "#base";
import { openMemoryStore, type Store, StoreError } from "#store";
import { bootstrap } from "../bootstrap/bootstrap.ts";
import { type TestServer, type TestServerOptions, testServer } from "../bootstrap/testing/server.ts";
import { serverRequest } from "../loopback/server-request.ts";
import type { AnyDraft } from "../rest/draft.ts";
import { change } from "../rest/write/change.ts";
import { deleteWith } from "../rest/write/delete.ts";
import { ClusterIPs } from "./cluster-ips.ts";
import { NodePorts } from "./node-ports.ts";
import { repairRound } from "./repair.ts";

type Spec = NonNullable<core.Service["spec"]>;

async function start(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await testServer(options);
  await bootstrap(
    server.context,
    server.resources,
    options.serviceCidrs === undefined ? {} : { serviceCidrs: options.serviceCidrs },
  );
  return server;
}

async function service(server: TestServer, name: string, spec: object, dryRun = false): Promise<Spec> {
  const full = { ports: [{ port: 80, targetPort: 80, protocol: "TCP" }], ...spec };
  const made = await server.create("", "services", { metadata: { name, namespace: "default" }, spec: full }, dryRun);
  return (made as core.Service).spec ?? {};
}

async function edit(
  server: TestServer,
  name: string,
  edited: (spec: Record<string, Json>) => void,
  dryRun = false,
): Promise<Spec> {
  const request = serverRequest(server.context, server.resource("", "services"), { name, namespace: "default" });
  const { stored } = await change(request, {
    dryRun,
    propose: (current) => {
      const draft = structuredClone(current) as unknown as AnyDraft;
      edited(draft.spec as Record<string, Json>);
      return { draft };
    },
  });
  return (stored.object as core.Service).spec ?? {};
}

async function remove(server: TestServer, name: string, dryRun = false): Promise<void> {
  await deleteWith(serverRequest(server.context, server.resource("", "services"), { name, namespace: "default" }), {
    dryRun,
    gracePeriodSeconds: undefined,
    propagationPolicy: undefined,
    preconditions: {},
    ignoreStoreReadError: false,
  });
}

const addresses = (server: TestServer) =>
  server.all("networking.k8s.io", "ipaddresses").map(({ metadata }) => metadata.name);

async function ports(server: TestServer): Promise<string[]> {
  const { entries } = await server.context.store.list("/registry/ranges/servicenodeports/");
  return entries.map(({ key }) => key.split("/").at(-1) ?? "");
}

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (isStatusError(error)) return `${error.code} ${error.message}`;
    throw error;
  }
  throw new Error("it was not refused");
}

describe("a service", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await start();
  });
  afterEach(() => server[Symbol.asyncDispose]());

  it("gets an address of the upper band, recorded with its labels and its service", async () => {
    const { clusterIP = "", clusterIPs, ipFamilies } = await service(server, "web", {});
    expect({ clusterIPs, ipFamilies }).toEqual({ clusterIPs: [clusterIP], ipFamilies: ["IPv4"] });
    expect(clusterIP).not.toMatch(/^10\.96\.0\./);
    const address = server.get("networking.k8s.io", "ipaddresses", clusterIP) as networking.IPAddress;
    expect(address.spec?.parentRef).toEqual({ resource: "services", namespace: "default", name: "web" });
    expect(address.metadata.labels).toEqual({
      "ipaddress.kubernetes.io/ip-family": "IPv4",
      "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    });
  });

  it("keeps its address for as long as it is there", async () => {
    const { clusterIP = "" } = await service(server, "web", {});
    await remove(server, "web", true);
    expect(addresses(server)).toEqual([clusterIP]);
    await remove(server, "web");
    expect(addresses(server)).toEqual([]);
    expect((await service(server, "other", { clusterIP })).clusterIP).toBe(clusterIP);
  });

  it("takes nothing in a dry run, nor when it comes to nothing", async () => {
    const shown = await service(server, "web", { type: "NodePort" }, true);
    expect([shown.clusterIP, shown.ports?.[0]?.nodePort]).toEqual(["10.96.0.0", 32_769]);
    expect(await refusal(service(server, "web", { type: "NodePort", sessionAffinity: "Wrong" }))).toMatch(
      /^422 .*sessionAffinity/,
    );
    expect([addresses(server), await ports(server)]).toEqual([[], []]);
    await service(server, "web", {});
    const taken = addresses(server);
    expect(await refusal(service(server, "web", { type: "NodePort" }))).toMatch(/^409 .*already exists/);
    expect([addresses(server), await ports(server)]).toEqual([taken, []]);
  });

  it("gets one node port for ports of one number", async () => {
    const both = [
      { name: "a", port: 53, targetPort: 53, protocol: "TCP" },
      { name: "b", port: 53, targetPort: 53, protocol: "UDP" },
      { name: "c", port: 80, targetPort: 80, protocol: "TCP", nodePort: 30_001 },
    ];
    const spec = await service(server, "dns", { type: "NodePort", ports: both });
    const [a, b, c] = spec.ports?.map(({ nodePort }) => nodePort) ?? [];
    expect([a, c]).toEqual([b, 30_001]);
    expect(a).toBeGreaterThanOrEqual(30_086);
    expect(await ports(server)).toEqual(["30001", String(a)].sort());
  });

  it("gets what its type needs, and gives back what it needs no more", async () => {
    await service(server, "web", {});
    const node = await edit(server, "web", (spec) => {
      spec.type = "NodePort";
    });
    expect(await ports(server)).toEqual([String(node.ports?.[0]?.nodePort)]);
    const balanced = await edit(server, "web", (spec) => {
      spec.type = "LoadBalancer";
      spec.externalTrafficPolicy = "Local";
    });
    expect(new Set(await ports(server))).toEqual(
      new Set([String(node.ports?.[0]?.nodePort), String(balanced.healthCheckNodePort)]),
    );
    await edit(server, "web", (spec) => {
      spec.type = "ClusterIP";
    });
    expect([addresses(server), await ports(server)]).toEqual([[balanced.clusterIP], []]);
    await edit(server, "web", (spec) => {
      spec.type = "ExternalName";
      spec.externalName = "example.com";
    });
    expect(addresses(server)).toEqual([]);
    const back = await edit(server, "web", (spec) => {
      spec.type = "ClusterIP";
      delete spec.externalName;
    });
    expect(addresses(server)).toEqual([back.clusterIP]);
  });

  it("changes nothing in the dry run of an update", async () => {
    await service(server, "web", {});
    const before = await server.context.store.revision();
    const shown = await edit(
      server,
      "web",
      (spec) => {
        spec.type = "NodePort";
      },
      true,
    );
    expect(shown.ports?.[0]?.nodePort).toEqual(expect.any(Number));
    expect(await server.context.store.revision()).toBe(before);
  });

  it("has no address if it is headless, and no node ports if it wants none", async () => {
    expect((await service(server, "headless", { clusterIP: "None" })).clusterIPs).toEqual(["None"]);
    const spec = await service(server, "lb", { type: "LoadBalancer", allocateLoadBalancerNodePorts: false });
    expect([spec.ports?.[0]?.nodePort, await ports(server), addresses(server)]).toEqual([
      undefined,
      [],
      [spec.clusterIP],
    ]);
  });

  it.each([
    {
      name: "another network",
      spec: { clusterIP: "1.2.3.4" },
      want: `422 Service "s" is invalid: spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided network does not match the current range`,
    },
    {
      name: "the network's own address",
      spec: { clusterIP: "10.96.0.0" },
      want: `422 Service "s" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.0"]: failed to allocate IP 10.96.0.0: the provided IP (10.96.0.0) is not in the valid range. The range of valid IPs is 10.96.0.0/12`,
    },
    {
      name: "an address that is taken",
      spec: { clusterIP: "10.96.0.10" },
      want: `422 Service "s" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.10"]: failed to allocate IP 10.96.0.10: provided IP is already allocated`,
    },
    {
      name: "a port out of the range",
      spec: { type: "NodePort", ports: [{ port: 80, targetPort: 80, protocol: "TCP", nodePort: 80 }] },
      want: `422 Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767`,
    },
    {
      name: "a port that is taken",
      spec: { type: "NodePort", ports: [{ port: 80, targetPort: 80, protocol: "TCP", nodePort: 30_080 }] },
      want: `422 Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated`,
    },
    {
      name: "a health check's port that is taken",
      spec: { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 30_080 },
      want: "500 Internal error occurred: failed to allocate requested HealthCheck NodePort 30080: provided port is already allocated",
    },
    {
      name: "a second family",
      spec: { ipFamilyPolicy: "RequireDualStack" },
      want: `422 Service "s" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services`,
    },
  ])("is refused $name", async ({ spec, want }) => {
    const taken = { port: 80, targetPort: 80, protocol: "TCP", nodePort: 30_080 };
    await service(server, "first", { type: "NodePort", clusterIP: "10.96.0.10", ports: [taken] });
    const before = [addresses(server), await ports(server)];
    expect(await refusal(service(server, "s", spec))).toBe(want);
    expect([addresses(server), await ports(server)]).toEqual(before);
  });
});

describe("a range", () => {
  it("that is full says so, and has room again after a release", async () => {
    await using server = await start({ serviceCidrs: ["10.0.0.0/29"], nodePorts: { first: 30_000, last: 30_001 } });
    for (let i = 1; i <= 6; i++) await service(server, `s${i}`, i <= 2 ? { type: "NodePort" } : {});
    expect(await refusal(service(server, "s7", {}))).toBe(
      "500 Internal error occurred: failed to allocate a serviceIP: range is full",
    );
    await remove(server, "s6");
    const full = "500 Internal error occurred: failed to allocate a nodePort: range is full";
    expect(await refusal(service(server, "s7", { type: "NodePort" }))).toBe(full);
    await remove(server, "s1");
    await service(server, "s7", { type: "NodePort" });
  });

  it("is used once it is ready, and the narrowest counts", async () => {
    await using server = await start({ serviceCidrs: ["10.0.0.0/29"] });
    const cidr = await server.create("networking.k8s.io", "servicecidrs", {
      metadata: { name: "more" },
      spec: { cidrs: ["10.1.0.0/24"] },
    });
    expect(cidr.metadata.name).toBe("more");
    expect(await refusal(service(server, "s", { clusterIP: "10.1.0.7" }))).toMatch(/does not match the current range/);
    const request = serverRequest(server.context, server.resource("networking.k8s.io", "servicecidrs"), {
      name: "more",
      subresource: "status",
    });
    await change(request, {
      dryRun: false,
      propose: (current) => {
        const ready = {
          type: "Ready",
          status: "True",
          reason: "",
          message: "",
          lastTransitionTime: "2030-01-01T00:00:00Z",
        };
        return { draft: { ...structuredClone(current), status: { conditions: [ready] } } as unknown as AnyDraft };
      },
    });
    expect((await service(server, "s", { clusterIP: "10.1.0.7" })).clusterIP).toBe("10.1.0.7");
  });
});

describe("two families", () => {
  it("give a service that prefers them an address of each", async () => {
    await using server = await start({ serviceCidrs: ["10.96.0.0/16", "fd00::/108"] });
    const spec = await service(server, "both", { ipFamilyPolicy: "PreferDualStack" });
    expect(spec.ipFamilies).toEqual(["IPv4", "IPv6"]);
    expect(new Set(addresses(server))).toEqual(new Set(spec.clusterIPs));
    await edit(server, "both", (edited) => {
      edited.ipFamilyPolicy = "SingleStack";
    });
    expect(addresses(server)).toEqual([spec.clusterIP]);
  });
});

describe("servers that share a store", () => {
  let store: Store;
  let servers: readonly TestServer[];
  beforeEach(async () => {
    store = openMemoryStore({ clock: realClock() });
    const small = { store, serviceCidrs: ["10.0.0.0/27"], nodePorts: { first: 30_000, last: 30_019 } };
    // The same chance for both: they try the same places at the same time.
    servers = await Promise.all([
      start({ ...small, random: seededRandom(7) }),
      testServer({ ...small, random: seededRandom(7) }),
    ]);
    const [, second] = servers;
    await second?.context.feed.reached(await store.revision());
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    await store.close();
  });

  it("never give anything twice, and lose nothing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            slot: fc.nat(14),
            server: fc.nat(1),
            act: fc.constantFrom("create", "create", "delete", "cluster", "node", "balance"),
          }),
          {
            minLength: 20,
            maxLength: 60,
          },
        ),
        async (steps) => {
          // Eight at a time, as clients would.
          for (let i = 0; i < steps.length; i += 8) {
            await Promise.all(
              steps.slice(i, i + 8).map(async ({ slot, server: which, act }) => {
                const server = servers[which];
                if (server === undefined) return;
                try {
                  await step(server, `s${slot}`, act);
                } catch (error) {
                  if (!isStatusError(error)) throw error;
                  if (error.code === 500 && !error.message.includes("range is full")) throw error;
                }
              }),
            );
          }
          const revision = await store.revision();
          for (const { context } of servers) await context.feed.reached(revision);
          for (const server of servers) await consistent(server);
        },
      ),
      { numRuns: 15 },
    );
  });

  async function step(server: TestServer, name: string, act: string): Promise<void> {
    if (act === "create") await service(server, name, { type: "NodePort" });
    else if (act === "delete") await remove(server, name);
    else {
      await edit(server, name, (spec) => {
        spec.type = act === "cluster" ? "ClusterIP" : act === "node" ? "NodePort" : "LoadBalancer";
        if (act === "balance") spec.externalTrafficPolicy = "Local";
      });
    }
  }

  /** What services have is taken for them, once, and nothing else is. */
  async function consistent(server: TestServer): Promise<void> {
    const all = server.all("", "services") as readonly core.Service[];
    const ips = all.flatMap(({ spec }) => spec?.clusterIPs ?? []);
    const numbers = all.flatMap(({ spec }) => [
      ...(spec?.ports ?? []).map(({ nodePort }) => nodePort),
      spec?.healthCheckNodePort,
    ]);
    const used = numbers.filter((port) => port !== undefined).map(String);
    expect(new Set(ips).size).toBe(ips.length);
    expect(new Set(used).size).toBe(used.length);
    expect([...addresses(server)].sort()).toEqual([...ips].sort());
    expect([...(await ports(server))].sort()).toEqual([...used].sort());
  }
});

describe("the repair", () => {
  it("gives back what was left over, after a second look, and retakes what is in use", async () => {
    await using server = await start();
    const { context } = server;
    const resource = (plural: string) => server.resource("networking.k8s.io", plural);
    const metrics = new MetricsRegistry();
    const clusterIPs = new ClusterIPs({
      storage: context,
      loopback: server.loopback,
      addresses: resource("ipaddresses"),
      cidrs: resource("servicecidrs"),
      metrics,
      exists: () => false,
    });
    const nodePorts = new NodePorts({
      storage: context,
      metrics,
      range: { first: 30_000, last: 32_767 },
    });
    const stock = { clusterIPs, nodePorts, families: ["IPv4"] as const, log: silentLogger };
    const used = await service(server, "web", { type: "NodePort" });
    const gone = { namespace: "default", name: "gone" };
    await clusterIPs.take("10.96.0.20", "IPv4", gone, false);
    await nodePorts.take(30_005, gone, false);
    await clusterIPs.free(used.clusterIP ?? "", { namespace: "default", name: "web" });

    await clusterIPs.take("10.96.0.20", "IPv4", { namespace: "default", name: "other" }, true);
    await nodePorts.take(30_005, { namespace: "default", name: "other" }, false);
    const counted = metrics.text().match(/^kube_apiserver_.*(total|ips|ports|count)(\{.*\})? [^0\n]+.*$/gm);
    expect(counted).toEqual([
      'kube_apiserver_clusterip_allocator_allocated_ips{cidr="10.96.0.0/12"} 1',
      'kube_apiserver_clusterip_allocator_available_ips{cidr="10.96.0.0/12"} 1048573',
      'kube_apiserver_clusterip_allocator_allocation_total{cidr="10.96.0.0/12",scope="static"} 1',
      'kube_apiserver_clusterip_allocator_allocation_duration_seconds_count{cidr="10.96.0.0/12"} 1',
      "kube_apiserver_nodeport_allocator_allocated_ports 2",
      "kube_apiserver_nodeport_allocator_available_ports 2766",
      'kube_apiserver_nodeport_allocator_allocation_total{scope="static"} 1',
      'kube_apiserver_nodeport_allocator_allocation_errors_total{scope="static"} 1',
    ]);

    const options = { stock, services: server.resource("", "services"), clock: context.clock, log: silentLogger };
    const suspects = await repairRound(options, new Set());
    expect(suspects).toEqual(new Set(["10.96.0.20", "30005"]));
    expect(addresses(server)).toContain("10.96.0.20");
    await repairRound(options, suspects);
    expect(addresses(server)).toEqual([used.clusterIP]);
    expect(await ports(server)).not.toContain("30005");
  });
});

describe("a write that failed", () => {
  /** A store that fails to answer for Services. */
  function failing(maybeApplied: boolean): Store {
    const inner = openMemoryStore({ clock: realClock() });
    return new Proxy(inner, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        if (name !== "create") return value.bind(target);
        return (key: string, bytes: Buffer) => {
          if (!key.includes("/services/default/")) return inner.create(key, bytes);
          return Promise.reject(new StoreError("Unavailable", "no answer", { maybeApplied }));
        };
      },
    });
  }

  it.each([
    { maybeApplied: true, kept: 1 },
    { maybeApplied: false, kept: 0 },
  ])("keeps $kept addresses if it may have happened: $maybeApplied", async ({ maybeApplied, kept }) => {
    const store = failing(maybeApplied);
    const server = await start({ store });
    expect(await refusal(service(server, "web", { type: "NodePort" }))).toMatch(/^503 /);
    expect([addresses(server).length, (await ports(server)).length]).toEqual([kept, kept]);
    await server[Symbol.asyncDispose]();
    await store.close();
  });
});
