/** The definitions of the Gateway API that `up` installs, in an API server: established, and they accept what they should. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isStatusError, kinds } from "../../src/api/index.ts";
import { clusterWide, namespaced } from "../../src/client/index.ts";
import { GATEWAY_DEFINITIONS, installDefinitions } from "../../src/network/index.ts";
import { startCluster, type TestCluster } from "../../src/testing/index.ts";

const GROUP = "gateway.networking.k8s.io";
let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster({});
  const { signal } = new AbortController();
  await installDefinitions(cluster.client, signal);
  // Those that exist stay as they are.
  await installDefinitions(cluster.client, signal);
  await cluster.eventually(async () => {
    const { items } = await cluster.client.of(kinds.CustomResourceDefinition).list();
    return items.every(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === "Established" && is === "True"),
    );
  });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const resource = (kind: string, version = "v1") => {
  const { spec } = GATEWAY_DEFINITIONS.find((each) => each.spec?.names?.kind === kind) ?? {};
  const make = spec?.scope === "Cluster" ? clusterWide : namespaced;
  return make(`${GROUP}/${version}`, kind, spec?.names?.plural ?? "");
};

describe("the definitions of the Gateway API", () => {
  const parentRefs = [{ name: "edge" }];
  const backendRefs = [{ name: "web", port: 80 }];
  it.each<[string, string, object]>([
    ["GatewayClass", "v1", { controllerName: "k8ts.dev/gateway" }],
    ["Gateway", "v1", { gatewayClassName: "k8ts", listeners: [{ name: "http", port: 80, protocol: "HTTP" }] }],
    ["HTTPRoute", "v1", { parentRefs, rules: [{ backendRefs, timeouts: { request: "10s" } }] }],
    ["HTTPRoute", "v1beta1", { parentRefs, hostnames: ["*.example.com"] }],
    ["GRPCRoute", "v1", { parentRefs, rules: [{ matches: [{ method: { service: "shop.Cart" } }], backendRefs }] }],
    [
      "ReferenceGrant",
      "v1beta1",
      { from: [{ group: GROUP, kind: "HTTPRoute", namespace: "a" }], to: [{ group: "", kind: "Service" }] },
    ],
  ])("%s %s", async (kind, version, spec) => {
    const all = cluster.client.of(resource(kind, version));
    const object = { metadata: { name: `it-${version}` }, spec };
    const made = await (kind === "GatewayClass" ? all : all.in("default")).create(object as never);
    expect(made).toMatchObject({ spec });
  });

  it("defaults are filled in", async () => {
    const made = await cluster.client
      .of(resource("HTTPRoute"))
      .in("default")
      .create({ metadata: { name: "defaults" }, spec: { parentRefs, rules: [{ backendRefs }] } } as never);
    expect(made).toMatchObject({
      spec: {
        parentRefs: [{ group: GROUP, kind: "Gateway", name: "edge" }],
        rules: [
          {
            matches: [{ path: { type: "PathPrefix", value: "/" } }],
            backendRefs: [{ group: "", kind: "Service", name: "web", port: 80, weight: 1 }],
          },
        ],
      },
    });
  });

  it.each<[string, object, string]>([
    ["Gateway", { gatewayClassName: "k8ts", listeners: [] }, "spec.listeners"],
    [
      "Gateway",
      { gatewayClassName: "k8ts", listeners: [{ name: "a", port: 0, protocol: "HTTP" }] },
      "spec.listeners[0].port",
    ],
    [
      "Gateway",
      {
        gatewayClassName: "k8ts",
        listeners: [
          { name: "a", port: 80, protocol: "HTTP" },
          { name: "b", port: 80, protocol: "HTTP" },
        ],
      },
      "must be unique for each listener",
    ],
    [
      "HTTPRoute",
      { rules: [{ matches: [{ path: { type: "Exact", value: "x" } }] }] },
      "value must be an absolute path",
    ],
    ["HTTPRoute", { rules: [{ backendRefs: [{ name: "web" }] }] }, "Must have port for Service reference"],
    ["HTTPRoute", { rules: [{ filters: [{ type: "URLRewrite" }] }] }, "urlRewrite must be specified"],
    ["HTTPRoute", { hostnames: ["UPPER.example"] }, "spec.hostnames[0]"],
    ["GRPCRoute", { rules: [{ matches: [{ method: { type: "Exact" } }] }] }, "One or both of 'service' or 'method'"],
  ])("%s refuses %j", async (kind, spec, why) => {
    const create = cluster.client
      .of(resource(kind))
      .in("default")
      .create({ metadata: { name: "bad" }, spec } as never);
    const error = await create.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(isStatusError(error) && error.message).toContain(why);
  });
});
