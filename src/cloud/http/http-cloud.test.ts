/** A cluster in the sample cloud, from its first node to its last load balancer, also while the cloud misbehaves. */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { kinds } from "#api";
import { nodeIpamController } from "../../controllers/node-ipam/index.ts";
import { nodeLifecycleController } from "../../controllers/node-lifecycle/index.ts";
import { type TestControllers, testControllers } from "../../controllers/testing/index.ts";
import { nodeServer, type TestFleet, testFleet } from "../../kubelet/fleet/testing/index.ts";
import { cloudControllers } from "../cloud-controllers.ts";
import { SHUT_DOWN } from "../nodes/plan-lifecycle.ts";
import { UNINITIALIZED } from "../nodes/plan-node.ts";
import { FINALIZER } from "../services/plan-service.ts";
import { type Disturbance, type TestCloud, testCloud } from "../testing/index.ts";
import { problemsOf } from "../testing/openapi.ts";

let test: TestCloud;
let cluster: TestControllers;
let nodes: TestFleet;

beforeEach(async () => {
  const server = await nodeServer();
  test = testCloud(server.clock);
  const routes = { clusterCidrs: ["10.244.0.0/16"] };
  const controllers = [...cloudControllers(test.cloud, { routes }), nodeIpamController(), nodeLifecycleController()];
  cluster = await testControllers(controllers, { server, rights: "everything" });
});
afterEach(async () => {
  await nodes?.close();
  await cluster.close();
  await cluster.server.close();
});

const addMachines = (...names: string[]) => {
  for (const [at, name] of names.entries())
    test.sample.instances.set(name, {
      ...{ providerID: `sample://${name}`, type: "small", zone: `zone-${at}`, region: "here" },
      addresses: [{ type: "InternalIP", address: `192.0.2.${at + 11}` }],
    });
};
const startNodes = async () => {
  nodes = await testFleet({ server: cluster.server, count: 2, externalCloud: true });
  await cluster.settle();
};
const nodeNamed = (name: string) => cluster.client.of(kinds.Node).get(name);
const taintsOf = async (name: string) => ((await nodeNamed(name)).spec?.taints ?? []).map(({ key }) => key);
const services = () => cluster.client.of(kinds.Service).in("default");
const put = async (name: string) => {
  await services().create({ metadata: { name }, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } });
  await cluster.settle();
};
const ingressOf = async (name: string) => (await services().get(name)).status?.loadBalancer?.ingress;
const reasons = async (name: string) =>
  (await cluster.client.of(kinds.Event).list()).items
    .filter(({ regarding }) => regarding?.name === name)
    .map(({ reason, note }) => `${reason}: ${note}`);
const targets = () =>
  [...test.sample.loadBalancers.values()].map((each) => each.targets.map(({ nodeName }) => nodeName));
const routes = () => [...test.sample.routes.values()].map(({ nodeName, destination }) => `${nodeName} ${destination}`);

describe("a cluster in a cloud", () => {
  it("initializes nodes, follows their machines, and undoes everything", async () => {
    addMachines("node-1", "node-2");
    await startNodes();
    await cluster.clock.advance(30_000);
    const { metadata, spec, status } = await nodeNamed("node-1");
    expect(spec?.providerID).toBe("sample://node-1");
    expect(spec?.taints?.map(({ key }) => key) ?? []).not.toContain(UNINITIALIZED);
    expect(metadata.labels).toMatchObject({
      "node.kubernetes.io/instance-type": "small",
      "topology.kubernetes.io/zone": "zone-0",
      "topology.kubernetes.io/region": "here",
    });
    expect(status?.addresses).toContainEqual({ type: "InternalIP", address: "192.0.2.11" });
    expect(status?.conditions?.find(({ type }) => type === "NetworkUnavailable")).toMatchObject({
      status: "False",
      reason: "RouteCreated",
    });
    expect(await reasons("node-1")).toContain("Synced: Node synced successfully");
    expect(routes().sort()).toEqual([`node-1 ${spec?.podCIDR}`, `node-2 ${(await nodeNamed("node-2")).spec?.podCIDR}`]);

    await put("web");
    expect(await ingressOf("web")).toEqual([{ ip: "198.51.100.1", ipMode: "VIP" }]);
    expect((await services().get("web")).metadata.finalizers).toEqual([FINALIZER]);
    expect(targets()).toEqual([["node-1", "node-2"]]);
    expect(await reasons("web")).toEqual(
      expect.arrayContaining([
        "EnsuringLoadBalancer: Ensuring load balancer",
        "EnsuredLoadBalancer: Ensured load balancer",
      ]),
    );
    // A new address of a machine gets to its Node, its route and the load balancers.
    addMachines("node-2", "node-1");
    await cluster.clock.advance(330_000);
    expect((await nodeNamed("node-1")).status?.addresses).toContainEqual({ type: "InternalIP", address: "192.0.2.12" });

    const label = "node.kubernetes.io/exclude-from-external-load-balancers";
    const object = { metadata: { labels: { [label]: "" } } };
    await cluster.client.of(kinds.Node).patch("node-1", { type: "merge", object });
    await cluster.settle();
    expect(targets()).toEqual([["node-2"]]);
    expect(await reasons("web")).toContain("UpdatedLoadBalancer: Updated load balancer with new hosts");

    // Shut down, and back again.
    const machine = test.sample.instances.get("node-1");
    if (machine === undefined) throw new Error("no machine");
    test.sample.instances.set("node-1", { ...machine, shutdown: true });
    nodes.fleet.stopNode("node-1");
    await cluster.clock.advance(120_000);
    expect(await taintsOf("node-1")).toContain(SHUT_DOWN);
    test.sample.instances.set("node-1", machine);
    nodes.fleet.startNode("node-1");
    await cluster.clock.advance(60_000);
    expect(await taintsOf("node-1")).not.toContain(SHUT_DOWN);

    // Deleted for good.
    nodes.fleet.stopNode("node-2");
    test.sample.instances.delete("node-2");
    await cluster.clock.advance(120_000);
    await expect(nodeNamed("node-2")).rejects.toThrow("not found");
    expect(routes().map((route) => route.split(" ")[0])).toEqual(["node-1"]);
    expect(targets()).toEqual([[]]);
    expect(await reasons("node-2")).toContain(
      "DeletingNode: Deleting node node-2 because it does not exist in the cloud provider",
    );

    await services().delete("web");
    await cluster.settle();
    await expect(services().get("web")).rejects.toThrow("not found");
    expect(test.sample.loadBalancers.size).toBe(0);

    const description = parse(readFileSync("docs/cloud-provider.openapi.yaml", "utf8")) as never;
    expect(test.exchanges.flatMap((exchange) => problemsOf(exchange, description))).toEqual([]);
    const kindsOfCalls = new Set(
      test.exchanges.map(({ method, url }) => `${method} ${url.pathname.split("/")[4] ?? ""}`),
    );
    expect(kindsOfCalls).toEqual(
      new Set(["GET ", "GET routes", "PUT routes", "DELETE routes", "PUT loadbalancers", "DELETE loadbalancers"]),
    );
  });

  const GARBAGE: readonly [string, Disturbance, RegExp][] = [
    ["hangs", "hang", /context deadline exceeded/],
    ["answers 500", { status: 500, text: '{"code":"Broken","message":"oh no"}' }, /500 Broken: oh no/],
    ["answers HTML", { status: 200, text: "<html>" }, /the answer is not JSON/],
    [
      "answers another shape",
      { status: 200, text: '{"ingress":[{"ip":"x"}]}' },
      /x is not an IP address|not as documented/,
    ],
    ["knows no such path", { status: 404, text: "not here" }, /404 not here/],
    ["refuses the token", { status: 401, text: '{"code":"Unauthorized","message":"no"}' }, /401 Unauthorized: no/],
    ["is still at it", { status: 202, text: "", retryAfter: "7" }, /still in progress/],
  ];
  it.each(GARBAGE)("that %s: Events, patience, and nothing is lost", async (_, disturbance, why) => {
    addMachines("node-1", "node-2");
    await startNodes();
    await put("old");
    expect(await ingressOf("old")).toHaveLength(1);
    test.disturb(() => disturbance);
    await put("web");
    await services().delete("old");
    nodes.fleet.stopNode("node-1");
    await cluster.clock.advance(180_000);
    expect(await ingressOf("web")).toBeUndefined();
    const failures = (await reasons("web")).filter((each) => each.startsWith("SyncLoadBalancerFailed"));
    expect(failures.join()).toMatch(why);
    // The finalizer holds what the cloud has not let go of, and a Node stays without certainty.
    expect((await services().get("old")).metadata).toMatchObject({ finalizers: [FINALIZER] });
    expect((await reasons("old")).join()).toMatch(/failed to delete load balancer/);
    expect((await nodeNamed("node-1")).metadata.deletionTimestamp).toBeUndefined();
    expect(test.sample.loadBalancers.size).toBe(1);
    test.disturb(() => undefined);
    await cluster.clock.advance(400_000);
    expect(await ingressOf("web")).toHaveLength(1);
    await expect(services().get("old")).rejects.toThrow("not found");
    expect(test.sample.loadBalancers.size).toBe(1);
  });

  it("keeps nodes tainted until the cloud knows their machines", async () => {
    await startNodes();
    await cluster.clock.advance(20_000);
    expect(await taintsOf("node-1")).toContain(UNINITIALIZED);
    expect(await reasons("node-1")).toContain(
      "FailedToInitializeNode: Error initializing node with the cloud provider: instance not found",
    );
    addMachines("node-1");
    await cluster.clock.advance(60_000);
    expect(await taintsOf("node-1")).not.toContain(UNINITIALIZED);
  });
});
