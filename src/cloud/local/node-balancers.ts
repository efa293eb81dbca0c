/**
 * Load balancers without addresses of their own: a Service gets the addresses of the nodes, whose kube-proxies serve
 * its ports there.
 *
 * 1. Two Services cannot have one port: the second waits until the first gives it up, and an Event names the first.
 * 2. Nodes whose label excludes them from load balancers are left out, as everywhere.
 */
import type { core } from "#api";
import { objectKey } from "#client";
import { type Cloud, CloudError, type LoadBalancers } from "../cloud.ts";

export function nodeBalancers(): Cloud {
  return { name: "nodes", loadBalancers: balancers() };
}

function balancers(): LoadBalancers {
  /** By `port/protocol`: the Service that has it. */
  const owners = new Map<string, string>();
  const release = (key: string, kept: readonly string[] = []) => {
    for (const [port, owner] of owners) if (owner === key && !kept.includes(port)) owners.delete(port);
  };
  return {
    followsNodes: true,
    adopt(service) {
      if ((service.status?.loadBalancer?.ingress ?? []).length === 0) return;
      for (const port of portsOf(service)) if (!owners.has(port)) owners.set(port, objectKey(service));
    },

    async ensure(service, nodes) {
      const [key, ports] = [objectKey(service), portsOf(service)];
      const asked = service.spec?.loadBalancerIP ?? "";
      const addresses = addressesOf(service, nodes);
      if (asked !== "" && !addresses.includes(asked)) throw new CloudError(`${asked} is not an address of a node`);
      for (const port of ports) {
        const owner = owners.get(port) ?? key;
        if (owner !== key) throw new CloudError(`port ${port} of the nodes belongs to the Service ${owner}`);
      }
      release(key, ports);
      for (const port of ports) owners.set(port, key);
      return { ingress: (asked === "" ? addresses : [asked]).map((ip) => ({ ip, ipMode: "VIP" })) };
    },

    async remove(service) {
      release(objectKey(service));
    },
  };
}

function portsOf({ spec }: core.Service): readonly string[] {
  return (spec?.ports ?? []).map(({ port, protocol = "TCP" }) => `${port}/${protocol}`);
}

/** In the IP families of the Service, in their order. */
function addressesOf({ spec }: core.Service, nodes: readonly core.Node[]): readonly string[] {
  const all = nodes.flatMap(({ status }) =>
    (status?.addresses ?? []).filter(({ type }) => type === "InternalIP").map(({ address }) => address),
  );
  const families = spec?.ipFamilies ?? ["IPv4"];
  const found = families.flatMap((family) => all.filter((each) => each.includes(":") === (family === "IPv6")).sort());
  return [...new Set(found)];
}
