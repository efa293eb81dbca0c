import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, StatusError } from "#api";
import { podWith, testControllers } from "../testing/index.ts";
import { endpointOf, portsOf } from "./endpoint.ts";
import { endpointSliceController } from "./index.ts";
import { planSlices } from "./plan.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const labels = { app: "web" };
const service = (name: string, spec: core.ServiceSpec = {}): core.Service => ({
  metadata: { name, namespace: "default", labels: { team: "a" } },
  spec: {
    selector: labels,
    clusterIP: "10.96.0.10",
    ipFamilies: ["IPv4"],
    ports: [{ port: 80, targetPort: 8080 }],
    ...spec,
  },
});
const pod = (name: string, ip = "10.0.0.1", facts: Parameters<typeof podWith>[1] = {}): core.Pod => {
  const made = podWith(name, { labels, node: "n", ...facts });
  return { ...made, status: { ...made.status, podIP: ip, podIPs: [{ ip }] } };
};

async function cluster() {
  const running = await testControllers([endpointSliceController]);
  open.push(() => running.close());
  const { client, settle } = running;
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  await client.of(kinds.Node).create({ metadata: { name: "n", labels: { "topology.kubernetes.io/zone": "z1" } } });
  const pods = client.of(kinds.Pod).in("default");
  const services = client.of(kinds.Service).in("default");
  const slices = async () => {
    await settle();
    return (await client.of(kinds.EndpointSlice).in("default").list()).items;
  };
  const runs = async (each: core.Pod) => {
    const { metadata, spec } = each;
    const { name = "", namespace = "" } = metadata;
    const made = await pods.create({
      metadata: { name, namespace, labels: metadata.labels ?? {} },
      ...(spec && { spec }),
    });
    await pods.updateStatus({ ...made, ...(each.status && { status: each.status }) });
  };
  return { ...running, pods, services, slices, runs };
}

describe("the slices of a Service", () => {
  it("say where its Pods are", async () => {
    const { services, slices, runs } = await cluster();
    await services.create(service("web"));
    const [empty] = await slices();
    expect(empty).toMatchObject({ endpoints: null, ports: null });
    await runs(pod("a"));
    const [slice, ...others] = await slices();
    expect(others).toEqual([]);
    expect(slice?.metadata.name).toBe(empty?.metadata.name);
    expect(slice?.metadata).toMatchObject({
      name: expect.stringMatching(/^web-[a-z0-9]{5}$/),
      generateName: "web-",
      labels: {
        team: "a",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      },
      annotations: { "endpoints.kubernetes.io/last-change-trigger-time": "2030-01-01T00:00:00Z" },
      ownerReferences: [{ apiVersion: "v1", kind: "Service", name: "web", controller: true, blockOwnerDeletion: true }],
    });
    expect(slice).toMatchObject({
      addressType: "IPv4",
      ports: [{ name: "", port: 8080, protocol: "TCP" }],
      endpoints: [
        {
          addresses: ["10.0.0.1"],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: "n",
          zone: "z1",
          targetRef: { kind: "Pod", namespace: "default", name: "a", uid: expect.any(String) },
        },
      ],
    });
  });

  it("follow Pods that change, end and go", async () => {
    const { services, pods, slices, runs } = await cluster();
    await services.create(service("web"));
    await runs(pod("a"));
    await runs(pod("b", "10.0.0.2", { ready: false }));
    const conditions = async () =>
      Object.fromEntries(
        (await slices()).flatMap(({ endpoints }) =>
          (endpoints ?? []).map(({ targetRef, conditions: c }) => [
            targetRef?.name,
            [c?.ready, c?.serving, c?.terminating],
          ]),
        ),
      );
    expect(await conditions()).toEqual({ a: [true, true, false], b: [false, false, false] });
    await pods.delete("a", { gracePeriodSeconds: 30 });
    expect(await conditions()).toEqual({ a: [false, true, true], b: [false, false, false] });
    await pods.delete("a", { gracePeriodSeconds: 0 });
    await pods.patch("b", { type: "merge", object: { metadata: { labels: { app: "other" } } } });
    expect(await conditions()).toEqual({});
    expect(await slices()).toHaveLength(1);
  });

  it("are as many as families and sets of ports", async () => {
    const { services, slices, runs } = await cluster();
    const named = (name: string, port: number, ip: string): core.Pod => {
      const made = pod(name, ip);
      const containers = [{ name: "c", image: "i", ports: [{ name: "http", containerPort: port }] }];
      return {
        ...made,
        spec: { ...made.spec, containers },
        status: { ...made.status, podIPs: [{ ip }, { ip: "fd00::1" }] },
      };
    };
    await services.create(
      service("web", {
        ipFamilies: ["IPv4", "IPv6"],
        ipFamilyPolicy: "PreferDualStack",
        ports: [{ name: "http", port: 80, targetPort: "http" }],
      }),
    );
    await runs(named("a", 8080, "10.0.0.1"));
    await runs(named("b", 9090, "10.0.0.2"));
    const found = (await slices()).map(({ addressType, ports = [], endpoints = [] }) =>
      [addressType, ports[0]?.port, ...endpoints.flatMap(({ addresses }) => addresses)].join(" "),
    );
    expect(found.sort()).toEqual([
      "IPv4 8080 10.0.0.1",
      "IPv4 9090 10.0.0.2",
      "IPv6 8080 fd00::1",
      "IPv6 9090 fd00::1",
    ]);
  });

  it("hold at most 100 endpoints each, and one write follows one Pod", async () => {
    const { services, pods, slices, runs, writes } = await cluster();
    for (let at = 0; at < 130; at++) await runs(pod(`p${at}`, `10.0.1.${at}`));
    await services.create(service("web"));
    expect((await slices()).map(({ endpoints }) => endpoints?.length).sort()).toEqual([100, 30]);
    const before = writes();
    await pods.patch("p7", { type: "merge", object: { metadata: { labels: { app: "other" } } } });
    await slices();
    expect(writes()).toBe(before + 1);
  });

  it("follow the Service's labels and come back when deleted", async () => {
    const { services, slices, client, runs } = await cluster();
    await runs(pod("a"));
    await services.create(service("web"));
    const [first] = await slices();
    await services.patch("web", { type: "merge", object: { metadata: { labels: { team: "b" } } } });
    expect((await slices())[0]?.metadata.labels?.team).toBe("b");
    await client
      .of(kinds.EndpointSlice)
      .in("default")
      .delete(first?.metadata.name ?? "");
    const [second] = await slices();
    expect(second?.endpoints).toHaveLength(1);
    expect(second?.metadata.name).not.toBe(first?.metadata.name);
  });

  it("are not made where nobody is selected, or the name stands for another", async () => {
    const { services, slices, client } = await cluster();
    const { selector: _, ...plain } = service("plain").spec ?? {};
    await services.create({ metadata: { name: "plain" }, spec: plain });
    await services.create({ metadata: { name: "else" }, spec: { type: "ExternalName", externalName: "example.com" } });
    expect(await slices()).toEqual([]);
    expect((await client.of(kinds.Event).list()).items).toEqual([]);
  });

  it("are written after failures, from a stop after any write, and then no more", async () => {
    for (let limit = 1; limit <= 4; limit++) {
      const first = await cluster();
      let count = 0;
      first.refuse(({ method }) => {
        if (method === "GET") return undefined;
        if (++count === limit) void first.stop();
        return count === 1 ? new StatusError("InternalError", "not now") : undefined;
      });
      await first.services.create(service("web"));
      await first.services.create(service("other", { clusterIP: "None", ports: [] }));
      for (let at = 0; at < 3; at++) await first.runs(pod(`p${at}`, `10.0.0.${at}`));
      await first.settle();
      await first.stop();
      const second = await testControllers([endpointSliceController], { server: first.server });
      open.push(() => second.close());
      await second.clock.advance(60_000);
      const found = (await first.slices()).map(({ metadata, endpoints = [] }) => [
        metadata.generateName,
        endpoints.length,
      ]);
      expect(found.sort(), `after ${limit} writes`).toEqual([
        ["other-", 3],
        ["web-", 3],
      ]);
      const before = second.writes();
      await second.clock.advance(3600_000);
      expect(second.writes()).toBe(before);
    }
  });
});

describe("the controller of slices", () => {
  it("converges while every third write fails", async () => {
    const { services, runs, slices, pods, refuse, clock } = await cluster();
    const errors = (["Conflict", "TooManyRequests", "InternalError"] as const).map(
      (each) => new StatusError(each, "no"),
    );
    let count = 0;
    refuse(({ method, path }) => {
      if (method === "GET" || path.includes("/events") || ++count % 3 !== 0) return undefined;
      return errors[(count / 3) % errors.length];
    });
    for (const name of ["one", "two"]) await services.create(service(name));
    for (let at = 0; at < 20; at++) {
      await runs(pod(`p${at}`, `10.0.0.${at}`, { ready: at % 2 === 0 }));
      if (at % 4 === 0) await slices();
    }
    await pods.delete("p3", { gracePeriodSeconds: 0 });
    await clock.advance(600_000);
    for (const { endpoints, metadata } of await slices()) {
      expect(endpoints?.map(({ addresses }) => addresses[0]).sort(), metadata.generateName).toEqual(
        Array.from({ length: 20 }, (_, at) => `10.0.0.${at}`)
          .filter((ip) => ip !== "10.0.0.3")
          .sort(),
      );
    }
    expect(await slices()).toHaveLength(2);
  });
});

describe("a Service that asks for hints by zones", () => {
  const MODE = "service.kubernetes.io/topology-mode";
  async function zones() {
    const running = await cluster();
    const { client, slices } = running;
    const nodes = client.of(kinds.Node);
    const ready = async (name: string, status: "True" | "False") => {
      const made = await nodes.get(name);
      const conditions = [{ type: "Ready", status } as const];
      await nodes.updateStatus({ ...made, status: { conditions, allocatable: { cpu: "4" } } });
    };
    await nodes.create({ metadata: { name: "m", labels: { "topology.kubernetes.io/zone": "z2" } } });
    for (const name of ["n", "m"]) await ready(name, "True");
    const hints = async () =>
      (await slices()).flatMap(({ endpoints }) =>
        (endpoints ?? []).map(({ hints: found }) => found?.forZones?.[0]?.name ?? "-"),
      );
    const told = async () =>
      (await client.of(kinds.Event).list()).items.map(({ reason, note }) => `${reason}: ${note}`).sort();
    return { ...running, ready, hints, told };
  }
  const asking = (name: string): core.Service => {
    const { metadata, spec } = service(name, { trafficDistribution: "PreferClose" });
    return { metadata: { ...metadata, annotations: { [MODE]: "Auto" } }, ...(spec && { spec }) };
  };
  const enabled = "TopologyAwareHintsEnabled: Topology Aware Hints has been enabled, addressType: IPv4";

  it("has them in proportion, and is told", async () => {
    const { services, runs, hints, told, server } = await zones();
    for (const at of [1, 2, 3, 4]) await runs(pod(`p${at}`, `10.0.0.${at}`));
    await services.create(asking("web"));
    expect(await hints()).toEqual(["z2", "z2", "z1", "z1"]);
    expect(await told()).toEqual([enabled]);
    await runs(pod("q1", "10.0.1.1", { node: "m" }));
    await runs(pod("q2", "10.0.1.2", { node: "m" }));
    const six = await hints();
    expect(six.filter((zone) => zone === "z1")).toHaveLength(3);
    const before = server.context.feed.revision;
    await services.patch("web", { type: "merge", object: { metadata: { annotations: { other: "x" } } } });
    expect(await hints()).toEqual(six);
    // Nothing but the Service was written.
    expect(server.context.feed.revision).toBe(before + 1);
  });

  it("has none while nodes say too little, and gets them back", async () => {
    const { services, runs, hints, told, ready } = await zones();
    for (const at of [1, 2]) await runs(pod(`p${at}`, `10.0.0.${at}`));
    await services.create(asking("web"));
    expect(await hints()).toEqual(["z2", "z1"]);
    await ready("m", "False");
    expect(await hints()).toEqual(["-", "-"]);
    expect(await told()).toContainEqual(
      "TopologyAwareHintsDisabled: Insufficient Node information: allocatable CPU or zone not specified on one or more nodes, addressType: IPv4",
    );
    await ready("m", "True");
    expect(await hints()).toEqual(["z2", "z1"]);
  });

  it("has those of its trafficDistribution once it asks no more", async () => {
    const { services, runs, hints, told } = await zones();
    for (const at of [1, 2]) await runs(pod(`p${at}`, `10.0.0.${at}`));
    await services.create(asking("web"));
    expect(await hints()).toEqual(["z2", "z1"]);
    await services.patch("web", { type: "merge", object: { metadata: { annotations: { [MODE]: null } } } });
    expect(await hints()).toEqual(["z1", "z1"]);
    expect(await told()).toEqual([
      "TopologyAwareHintsDisabled: Topology Aware Hints has been disabled, addressType: IPv4",
      enabled,
    ]);
    await services.patch("web", { type: "merge", object: { spec: { trafficDistribution: null } } });
    expect(await hints()).toEqual(["-", "-"]);
    expect(await told()).toHaveLength(2);
  });
});

describe("an endpoint", () => {
  const node: core.Node = { metadata: { name: "n", labels: { "topology.kubernetes.io/zone": "z" } } };
  it.each([
    { distribution: "PreferClose", want: { forZones: [{ name: "z" }] } },
    { distribution: "PreferSameZone", want: { forZones: [{ name: "z" }] } },
    { distribution: "PreferSameNode", want: { forZones: [{ name: "z" }], forNodes: [{ name: "n" }] } },
    { distribution: "", want: undefined },
  ])("has hints for $distribution", ({ distribution, want }) => {
    const wanted = service("web", distribution === "" ? {} : { trafficDistribution: distribution });
    expect(endpointOf(pod("a"), node, wanted, "IPv4").hints).toEqual(want);
    expect(endpointOf(pod("a", "10.0.0.1", { ready: false }), node, wanted, "IPv4").hints).toBeUndefined();
  });

  it("is ready in any case where the Service wants it published", () => {
    const wanted = service("web", { publishNotReadyAddresses: true });
    const made = endpointOf(pod("a", "10.0.0.1", { ready: false, ending: true }), node, wanted, "IPv4");
    expect(made.conditions).toEqual({ ready: true, serving: false, terminating: true });
  });

  it("has its host name where the Service is its subdomain", () => {
    const made = pod("a");
    const spec = { containers: [], ...made.spec, hostname: "one", subdomain: "web" };
    expect(endpointOf({ ...made, spec }, node, service("web"), "IPv4").hostname).toBe("one");
    expect(endpointOf({ ...made, spec }, node, service("other"), "IPv4").hostname).toBeUndefined();
  });

  it("has the ports that its containers and sidecars name", () => {
    const made = pod("a");
    const spec: core.PodSpec = {
      containers: [{ name: "c", image: "i", ports: [{ name: "dns", containerPort: 53, protocol: "UDP" }] }],
      initContainers: [
        { name: "s", image: "i", restartPolicy: "Always", ports: [{ name: "metrics", containerPort: 9000 }] },
        { name: "once", image: "i", ports: [{ name: "debug", containerPort: 1 }] },
      ],
    };
    const ports = [
      { name: "a", port: 53, protocol: "UDP" as const, targetPort: "dns" },
      { name: "b", port: 53, targetPort: "dns" },
      { name: "c", port: 80, targetPort: "metrics", appProtocol: "http" },
      { name: "d", port: 80, targetPort: "debug" },
      { name: "e", port: 81 },
    ];
    expect(portsOf({ ...made, spec }, service("web", { ports }))).toEqual([
      { name: "a", port: 53, protocol: "UDP" },
      { name: "c", port: 9000, protocol: "TCP", appProtocol: "http" },
      { name: "e", port: 81, protocol: "TCP" },
    ]);
  });
});

describe("a plan for slices", () => {
  const owned = { ...service("web"), metadata: { ...service("web").metadata, uid: "u" } };
  const writes = (view: Partial<Parameters<typeof planSlices>[0]>) =>
    (planSlices({ service: owned, pods: [], slices: [], node: () => ({ metadata: {} }), ...view }).steps ?? [])
      .flat()
      .map(({ verb, object }) => `${verb} ${object.metadata.name ?? object.metadata.generateName}`);
  const old = { metadata: { name: "old", labels: {}, ownerReferences: [] }, addressType: "IPv4" as const };

  it("replaces slices of a Service of the same name before", () => {
    expect(writes({ slices: [old] })).toEqual(["create web-", "delete old"]);
  });

  it("deletes slices of a family that the Service no longer has", () => {
    expect(writes({ slices: [{ ...old, addressType: "IPv6" }] })).toEqual(["create web-", "delete old"]);
  });

  it("makes none for a Service that ends", () => {
    const ends = { ...owned, metadata: { ...owned.metadata, deletionTimestamp: "2030-01-01T00:00:00Z" } };
    expect(writes({ service: ends })).toEqual([]);
  });

  it("fills slices as far as --max-endpoints-per-slice allows", () => {
    const pods = ["a", "b", "c", "d", "e"].map((name, at) => pod(name, `10.0.0.${at + 1}`));
    expect(writes({ pods })).toHaveLength(1);
    expect(writes({ pods, maxEndpoints: 2 })).toHaveLength(3);
  });

  it("leaves out Pods whose node is gone", () => {
    const [write] =
      planSlices({ service: owned, pods: [pod("a")], slices: [], node: () => undefined }).steps?.flat() ?? [];
    expect(write?.object).toMatchObject({ endpoints: [] });
  });
});
