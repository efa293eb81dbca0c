/**
 * A cloud behind a server that answers the calls of docs/cloud-provider.openapi.yaml. It keeps nothing: the server
 * does.
 *
 *     instances       GET    /v1/instances?nodeName=&providerID=
 *     routes          GET, PUT, DELETE /v1/clusters/CLUSTER/routes
 *     load balancers  PUT, DELETE /v1/clusters/CLUSTER/loadbalancers/UID, PUT …/targets
 *
 * 1. PUT and DELETE may be repeated: they name what they are about by ids of the cluster.
 */
import type { core } from "#api";
import type { Cloud, Instances, LoadBalancers, Routes } from "../cloud.ts";
import { CloudError } from "../cloud.ts";
import { type CallResult, type CallsOptions, CloudCalls } from "./calls.ts";
import { instanceOf, loadBalancerOf, routesOf } from "./shapes.ts";

export interface HttpCloudOptions extends CallsOptions {
  readonly clusterName: string;
}

export function httpCloud(options: HttpCloudOptions): Cloud {
  const { settings, clusterName } = options;
  const calls = new CloudCalls(options);
  const cluster = `/v1/clusters/${encodeURIComponent(clusterName)}`;
  const has = (part: (typeof settings.parts)[number]) => settings.parts.includes(part);
  return {
    name: "http",
    ...(has("instances") && { instances: instancesOf(calls) }),
    ...(has("routes") && { routes: routesAt(calls, `${cluster}/routes`) }),
    ...(has("loadBalancers") && { loadBalancers: balancersAt(calls, `${cluster}/loadbalancers`) }),
    close: () => calls.close(),
  };
}

function instancesOf(calls: CloudCalls): Instances {
  return {
    async find({ metadata: { name = "" }, spec }, signal) {
      const providerID = spec?.providerID ?? "";
      const query = { nodeName: name, ...(providerID !== "" && { providerID }) };
      const result = await calls.send({ method: "GET", path: "/v1/instances", query }, signal);
      return result.found ? instanceOf(result.body) : undefined;
    },
  };
}

function routesAt(calls: CloudCalls, path: string): Routes {
  return {
    async list(signal) {
      return routesOf(bodyOf(await calls.send({ method: "GET", path }, signal)));
    },
    async create({ nodeName, destination, addresses = [] }, signal) {
      const body = { nodeName, destination, addresses };
      bodyOf(await calls.send({ method: "PUT", path, body, silent: true }, signal));
    },
    async delete({ nodeName, destination }, signal) {
      await calls.send({ method: "DELETE", path, query: { nodeName, destination }, silent: true }, signal);
    },
  };
}

function balancersAt(calls: CloudCalls, path: string): LoadBalancers {
  const of = ({ metadata: { uid = "" } }: core.Service) => `${path}/${encodeURIComponent(uid)}`;
  return {
    async ensure(service, nodes, signal) {
      const body = { ...wordsOf(service), targets: nodes.map(targetOf) };
      return loadBalancerOf(bodyOf(await calls.send({ method: "PUT", path: of(service), body }, signal)));
    },
    async update(service, nodes, signal) {
      const body = { targets: nodes.map(targetOf) };
      bodyOf(await calls.send({ method: "PUT", path: `${of(service)}/targets`, body, silent: true }, signal));
    },
    async remove(service, signal) {
      await calls.send({ method: "DELETE", path: of(service), silent: true }, signal);
    },
  };
}

function bodyOf(result: CallResult): unknown {
  if (!result.found) throw new CloudError("the cloud says NotFound where something has to be");
  return result.body;
}

function targetOf({ metadata: { name = "" }, spec, status }: core.Node) {
  const addresses = (status?.addresses ?? []).map(({ type, address }) => ({ type, address }));
  return { nodeName: name, ...(spec?.providerID !== undefined && { providerID: spec.providerID }), addresses };
}

function wordsOf({ metadata, spec = {} }: core.Service) {
  const { externalTrafficPolicy, healthCheckNodePort = 0, loadBalancerIP = "", loadBalancerSourceRanges } = spec;
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
    annotations: metadata.annotations ?? {},
    ports: (spec.ports ?? []).map(({ name = "", protocol = "TCP", port, nodePort, appProtocol }) => ({
      ...{ name, protocol, port },
      ...(nodePort !== undefined && nodePort !== 0 && { nodePort }),
      ...(appProtocol !== undefined && { appProtocol }),
    })),
    ipFamilies: [...(spec.ipFamilies ?? [])],
    externalTrafficPolicy: externalTrafficPolicy ?? "Cluster",
    ...(healthCheckNodePort > 0 && { healthCheckNodePort }),
    sessionAffinity: spec.sessionAffinity ?? "None",
    ...(loadBalancerIP !== "" && { loadBalancerIP }),
    ...(loadBalancerSourceRanges !== undefined && { sourceRanges: [...loadBalancerSourceRanges] }),
  };
}
