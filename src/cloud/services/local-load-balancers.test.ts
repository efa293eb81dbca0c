/** Load balancers from a pool, on an API server in memory, with the rights that the controller has. */
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { type TestControllers, testControllers } from "../../controllers/testing/index.ts";
import { cloudControllers } from "../cloud-controllers.ts";
import { localCloud } from "../local/local-cloud.ts";
import { FINALIZER } from "./plan-service.ts";

let cluster: TestControllers;
afterEach(() => cluster.close());

const start = async (...addresses: string[]) => {
  cluster = await testControllers(
    cloudControllers(localCloud({ addresses }), { services: { loadBalancerClass: "k8ts.dev/local" } }),
  );
};
const services = () => cluster.client.of(kinds.Service).in("default");
const put = async (name: string, spec: core.ServiceSpec = {}) => {
  const ports = [{ port: 80 }];
  await services().create({ metadata: { name }, spec: { type: "LoadBalancer", ports, ...spec } });
  await cluster.settle();
};
const ingressOf = async (name: string) => (await services().get(name)).status?.loadBalancer?.ingress;
const events = async () => {
  const { text } = await cluster.server.request("GET", "/apis/events.k8s.io/v1/namespaces/default/events");
  return (JSON.parse(text) as { items: { note: string }[] }).items.map(({ note }) => note);
};

describe("load balancers", () => {
  it("have addresses of their own, and are held until they are gone", async () => {
    await start("192.0.2.0/30");
    await put("a");
    await put("b");
    await put("plain", { type: "ClusterIP" });
    expect(await ingressOf("a")).toEqual([{ ip: "192.0.2.1", ipMode: "VIP" }]);
    expect(await ingressOf("b")).toEqual([{ ip: "192.0.2.2", ipMode: "VIP" }]);
    expect(await ingressOf("plain")).toBeUndefined();
    expect((await services().get("a")).metadata.finalizers).toEqual([FINALIZER]);
    const writes = cluster.writes();
    await cluster.clock.advance(1000);
    expect(cluster.writes()).toBe(writes);
  });

  it("of which none is left wait, say so, and get the next that is let go", async () => {
    await start("192.0.2.1");
    await put("a");
    await put("b");
    expect(await ingressOf("b")).toBeUndefined();
    expect(await events()).toContain(
      "Error syncing load balancer: failed to ensure load balancer: no IPv4 address is left in the pool",
    );
    await services().delete("a");
    await cluster.settle();
    await expect(services().get("a")).rejects.toThrow("not found");
    expect(await ingressOf("b")).toEqual([{ ip: "192.0.2.1", ipMode: "VIP" }]);
  });

  it("let go where the type changes", async () => {
    await start("192.0.2.1");
    await put("a");
    await services().patch("a", { type: "merge", object: { spec: { type: "ClusterIP" } } });
    await cluster.settle();
    const { metadata, status } = await services().get("a");
    expect([metadata.finalizers, status?.loadBalancer?.ingress]).toEqual([undefined, undefined]);
    await put("b");
    expect(await ingressOf("b")).toHaveLength(1);
  });

  it("have the address that is asked for, or none", async () => {
    await start("192.0.2.0/28");
    await put("a", { loadBalancerIP: "192.0.2.5" });
    await put("b", { loadBalancerIP: "192.0.2.5" });
    await put("c", { loadBalancerIP: "203.0.113.1" });
    expect(await ingressOf("a")).toEqual([{ ip: "192.0.2.5", ipMode: "VIP" }]);
    expect([await ingressOf("b"), await ingressOf("c")]).toEqual([undefined, undefined]);
    expect((await events()).filter((note) => note.startsWith("Error")).sort()).toEqual([
      "Error syncing load balancer: failed to ensure load balancer: the address 192.0.2.5 belongs to the Service default/a",
      "Error syncing load balancer: failed to ensure load balancer: the address 203.0.113.1 is not in the pool",
    ]);
    await services().patch("a", { type: "merge", object: { spec: { loadBalancerIP: "192.0.2.6" } } });
    await cluster.settle();
    expect(await ingressOf("a")).toEqual([{ ip: "192.0.2.6", ipMode: "VIP" }]);
  });

  it("of another class are left alone", async () => {
    await start("192.0.2.0/28");
    await put("ours", { loadBalancerClass: "k8ts.dev/local" });
    await put("theirs", { loadBalancerClass: "example.com/other" });
    expect(await ingressOf("ours")).toHaveLength(1);
    expect(await ingressOf("theirs")).toBeUndefined();
    expect((await services().get("theirs")).metadata.finalizers).toBeUndefined();
  });

  it("keep their addresses when the controller starts again", async () => {
    await start("192.0.2.0/28");
    await put("b", { loadBalancerIP: "192.0.2.1" });
    await cluster.stop();
    await services().create({ metadata: { name: "a" }, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } });
    const controllers = cloudControllers(localCloud({ addresses: ["192.0.2.0/28"] }));
    const again = await testControllers(controllers, { server: cluster.server });
    try {
      await again.settle();
      expect(await ingressOf("b")).toEqual([{ ip: "192.0.2.1", ipMode: "VIP" }]);
      expect(await ingressOf("a")).toEqual([{ ip: "192.0.2.2", ipMode: "VIP" }]);
    } finally {
      await again.stop();
    }
  });
});
