/** The addresses of a Service's ready endpoints. */
import type { discovery } from "#api";
import type { Resource } from "../rest/resource.ts";

export function readyEndpoints(
  slices: Resource,
  namespace: string,
  service: string,
  portName: string,
): readonly { host: string; port: number }[] {
  return [...slices.readable({ from: `${namespace}/`, before: `${namespace}0` })].flatMap((stored) => {
    const { metadata, endpoints = [], ports = [] } = slices.read(stored) as discovery.EndpointSlice;
    if (metadata.labels?.["kubernetes.io/service-name"] !== service) return [];
    const port = ports.find(({ name = "" }) => name === portName)?.port;
    if (port === undefined) return [];
    return endpoints
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses }) => addresses.map((host) => ({ host, port })));
  });
}
