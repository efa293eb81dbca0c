/** Resolves a Service to one of its ready endpoints, or to its own IP. */
import { type core, notFound, serviceUnavailable } from "#api";
import type { NetworkAddress, Random } from "#base";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import { readyEndpoints } from "./endpoints.ts";

/** Throws a StatusError that says why if the Service cannot be reached. */
export function serviceResolver(
  resources: Resources,
  random: () => Random,
): (namespace: string, name: string, port: number) => NetworkAddress {
  return (namespace, name, port) => {
    const services = served(resources, "", "services");
    const slices = served(resources, "discovery.k8s.io", "endpointslices");
    const stored = services.cache.get(services.suffix(namespace, name));
    if (stored === undefined) throw notFound({ group: "", resource: "service" }, name);
    const { spec } = services.read(stored) as core.Service;
    if (spec?.type === "ExternalName") return { host: spec.externalName ?? "", port };
    const wanted = (spec?.ports ?? []).find((one) => one.port === port);
    if (wanted === undefined)
      throw serviceUnavailable(`no service port ${port} found for service ${JSON.stringify(name)}`);
    const ready = readyEndpoints(slices, namespace, name, wanted.name ?? "");
    if (ready.length === 0) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`);
    return random().pick(ready);
  };
}

/** The IP of the Service: something on this machine has to lead from there to an endpoint. Throws a StatusError. */
export function serviceIpResolver(
  resources: Resources,
): (namespace: string, name: string, port: number) => NetworkAddress {
  return (namespace, name, port) => {
    const services = served(resources, "", "services");
    const stored = services.cache.get(services.suffix(namespace, name));
    if (stored === undefined) throw notFound({ group: "", resource: "service" }, name);
    const { type, clusterIP = "", externalName = "", ports = [] } = (services.read(stored) as core.Service).spec ?? {};
    if (type === "ExternalName") return { host: externalName, port };
    if (clusterIP === "None" || clusterIP === "")
      throw serviceUnavailable('cannot route to service with ClusterIP "None"');
    if (!ports.some((one) => one.port === port))
      throw serviceUnavailable(`no service port ${port} found for service ${JSON.stringify(name)}`);
    return { host: clusterIP, port };
  };
}

function served(resources: Resources, group: string, plural: string): Resource {
  const found = resources.find(group, "v1", plural);
  if (found === undefined) throw new Error(`${plural} are not served`);
  return found;
}
