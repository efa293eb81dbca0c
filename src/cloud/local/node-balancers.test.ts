/** Services that get the addresses of the nodes: families, ports that are taken, what is asked for. */
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { nodeBalancers } from "./node-balancers.ts";

const { signal } = new AbortController();
const node = (name: string, ...addresses: readonly string[]): core.Node => ({
  metadata: { name },
  status: {
    addresses: [{ type: "Hostname", address: name }, ...addresses.map((address) => ({ type: "InternalIP", address }))],
  },
});
const service = (name: string, port: number, spec: Partial<core.ServiceSpec> = {}): core.Service => ({
  metadata: { name, namespace: "default", uid: name },
  spec: { type: "LoadBalancer", ports: [{ port }], ...spec },
});
const nodes = [node("b", "192.0.2.2", "fd00::2"), node("a", "192.0.2.1")];
const ips = ({ ingress = [] }: core.LoadBalancerStatus) => ingress.map(({ ip }) => ip);

function open() {
  const { loadBalancers } = nodeBalancers();
  if (loadBalancers === undefined) throw new Error("it has load balancers");
  return loadBalancers;
}

describe("load balancers on nodes", () => {
  it.each<{ name: string; given: Partial<core.ServiceSpec>; want: string[] }>([
    { name: "the first family", given: {}, want: ["192.0.2.1", "192.0.2.2"] },
    {
      name: "both families",
      given: { ipFamilies: ["IPv6", "IPv4"] },
      want: ["fd00::2", "192.0.2.1", "192.0.2.2"],
    },
    { name: "the address that is asked for", given: { loadBalancerIP: "192.0.2.2" }, want: ["192.0.2.2"] },
  ])("have their addresses of $name", async ({ given, want }) => {
    expect(ips(await open().ensure(service("web", 80, given), nodes, signal))).toEqual(want);
  });

  it("refuse an address of nobody", async () => {
    const asked = service("web", 80, { loadBalancerIP: "192.0.2.9" });
    await expect(open().ensure(asked, nodes, signal)).rejects.toThrow("192.0.2.9 is not an address of a node");
  });

  it("give a port to one Service at a time, whoever had it before the start first", async () => {
    const balancers = open();
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
    balancers.adopt?.(service("waits", 80));
    balancers.adopt?.({ ...service("web", 80), status });
    await expect(balancers.ensure(service("waits", 80), nodes, signal)).rejects.toThrow(
      "port 80/TCP of the nodes belongs to the Service default/web",
    );
    const udp: Partial<core.ServiceSpec> = { ports: [{ port: 80, protocol: "UDP" }] };
    expect(ips(await balancers.ensure(service("udp", 80, udp), nodes, signal))).toHaveLength(2);
    // Another port: the first is free.
    await balancers.ensure(service("web", 81), nodes, signal);
    expect(ips(await balancers.ensure(service("waits", 80), nodes, signal))).toHaveLength(2);
    await balancers.remove(service("web", 81), signal);
    expect(ips(await balancers.ensure(service("last", 81), nodes, signal))).toHaveLength(2);
  });
});
