import { describe, expect, it } from "vitest";
import type { core, discovery } from "#api";
import { balancerRoutes } from "./balancer-routes.ts";

function node(number: number, ready = true): core.Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: `node-${number}` },
    status: {
      addresses: [{ type: "InternalIP", address: `10.89.0.${number}` }],
      conditions: [{ type: "Ready", status: ready ? "True" : "Unknown" }],
    },
  };
}

function service(spec: core.ServiceSpec = {}, ip = "10.88.0.1"): core.Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default" },
    spec: { type: "LoadBalancer", ...spec },
    status: { loadBalancer: { ingress: [{ ip, ipMode: "VIP" }] } },
  };
}

function slice(nodeName: string, conditions: discovery.EndpointConditions = {}): discovery.EndpointSlice {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "web-1" },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.244.0.2"], nodeName, conditions }],
  };
}

const local = { externalTrafficPolicy: "Local" } as const;

describe("load balancer routes", () => {
  it.each([
    ["lead to the first node", service(), [node(2), node(1)], [], "10.89.0.1"],
    ["that is ready", service(), [node(1, false), node(2)], [], "10.89.0.2"],
    ["there are none without nodes", service(), [node(1, false)], [], undefined],
    ["nor to other types", service({ type: "NodePort" }), [node(1)], [], undefined],
    ["nor of IPv6", service({}, "fd00::1"), [node(1)], [], undefined],
    ["lead to where an endpoint is", service(local), [node(1), node(2)], [slice("node-2")], "10.89.0.2"],
    [
      "that serves while it ends, if there is no better one",
      service(local),
      [node(1), node(2)],
      [slice("node-1", { ready: false }), slice("node-2", { ready: false, serving: true, terminating: true })],
      "10.89.0.2",
    ],
    ["and to anyone without one", service(local), [node(1), node(2)], [], "10.89.0.1"],
  ] as const)("%s", (_, given, nodes, slices, via) => {
    expect(balancerRoutes({ services: [given], nodes, slicesOf: () => slices })).toEqual(
      via === undefined ? [] : [{ cidr: "10.88.0.1/32", via }],
    );
  });
});
