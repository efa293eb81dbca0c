import { describe, expect, it } from "vitest";
import { at } from "../../machinery/errors/field-error.ts";
import type { Draft } from "../../machinery/schema/object.ts";
import { changeFaults, create, faults, update } from "../../testing/pure-server.ts";
import type { Service as ServiceObject, ServiceSpec } from "../../types/core-v1.ts";
import { initIPFamilies } from "./ip-families.ts";
import { type IpFamily, isHeadless } from "./needs.ts";
import { Service } from "./service.ts";
import { validateServiceStatus } from "./status-validation.ts";

const ports = [{ port: 80 }];
const metadata = { name: "one" };

describe("a service's defaults", () => {
  it.each<[string, object, object]>([
    ["ClusterIP", { ports }, { type: "ClusterIP", sessionAffinity: "None", internalTrafficPolicy: "Cluster" }],
    [
      "ports",
      { ports: [{ port: 80, protocol: "UDP", targetPort: "web" }] },
      { ports: [{ port: 80, protocol: "UDP", targetPort: "web" }] },
    ],
    ["external addresses", { ports, externalIPs: ["192.0.2.1"] }, { externalTrafficPolicy: "Cluster" }],
    [
      "LoadBalancer",
      { ports, type: "LoadBalancer" },
      { allocateLoadBalancerNodePorts: true, externalTrafficPolicy: "Cluster" },
    ],
    [
      "affinity",
      { ports, sessionAffinity: "ClientIP" },
      { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } } },
    ],
    ["one address", { ports, clusterIP: "10.0.0.7" }, { clusterIPs: ["10.0.0.7"], ipFamilies: ["IPv4"] }],
  ])("%s", (_, spec, want) =>
    expect(create(Service, { metadata, spec: { ...spec } }).object).toMatchObject({ spec: want }),
  );
});

describe("what a service may not say", () => {
  it.each<[object, readonly string[]]>([
    [
      { ports: [{ port: 10250 }], type: "LoadBalancer" },
      ["spec.ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet"],
    ],
    [
      { ports, type: "NodePort", clusterIP: "None" },
      ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services"],
    ],
    [{ type: "ExternalName" }, ["spec.externalName: Required value"]],
    [{ type: "ExternalName", externalName: "a.example.com." }, []],
    [
      { ports, sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
      [
        "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400",
      ],
    ],
    [
      { ports, loadBalancerClass: "a/b" },
      ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
    [
      { ports, externalTrafficPolicy: "Local" },
      ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
    ],
    [
      { ports, healthCheckNodePort: 1 },
      [
        "spec.healthCheckNodePort: Invalid value: 1: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ],
    ],
    [
      { ports, internalTrafficPolicy: "X" },
      ['spec.internalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"'],
    ],
    [
      { ports, trafficDistribution: "X" },
      [
        'spec.trafficDistribution: Unsupported value: "X": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
      ],
    ],
    [
      { ports, clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.2"] },
      ['spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`'],
    ],
    [
      { ports, clusterIPs: ["10.0.0.2"] },
      ['spec.clusterIPs: Invalid value: ["10.0.0.2"]: must be empty when `clusterIP` is not specified'],
    ],
    [
      { type: "Odd", ports },
      [
        'spec.type: Unsupported value: "Odd": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
    ],
  ])("%j", (spec, want) => expect(faults(Service, { spec: { ...spec } })).toEqual(want));
});

describe("which families a service gets", () => {
  const init = (spec: object, families: readonly IpFamily[], old?: ServiceSpec) => {
    const draft = { metadata, spec: { type: "ClusterIP", ...structuredClone(spec) } } as Draft<ServiceObject>;
    const errors = initIPFamilies(draft, old === undefined ? undefined : { metadata, spec: old }, families);
    return errors.length > 0
      ? errors.map(({ field, detail }) => `${field}: ${detail}`)
      : { families: draft.spec?.ipFamilies, policy: draft.spec?.ipFamilyPolicy };
  };
  const both: readonly IpFamily[] = ["IPv4", "IPv6"];

  it.each<[string, object, readonly IpFamily[], object]>([
    ["one of one", {}, ["IPv6"], { families: ["IPv6"], policy: "SingleStack" }],
    ["one of two", {}, both, { families: ["IPv4"], policy: "SingleStack" }],
    [
      "both if it prefers",
      { ipFamilyPolicy: "PreferDualStack" },
      both,
      { families: ["IPv4", "IPv6"], policy: "PreferDualStack" },
    ],
    [
      "one if there is one",
      { ipFamilyPolicy: "PreferDualStack" },
      ["IPv4"],
      { families: ["IPv4"], policy: "PreferDualStack" },
    ],
    [
      "that of its address",
      { clusterIP: "fd00::1", clusterIPs: ["fd00::1"] },
      both,
      { families: ["IPv6"], policy: "SingleStack" },
    ],
    [
      "both without selector and address",
      { clusterIP: "None", clusterIPs: ["None"] },
      ["IPv4"],
      { families: ["IPv4", "IPv6"], policy: "RequireDualStack" },
    ],
    [
      "one with selector and no address",
      { clusterIP: "None", clusterIPs: ["None"], selector: { a: "b" } },
      ["IPv4"],
      { families: ["IPv4"], policy: "SingleStack" },
    ],
    [
      "none of another cluster",
      { ipFamilies: ["IPv6"] },
      ["IPv4"],
      ["spec.ipFamilies[0]: not configured on this cluster"],
    ],
    [
      "no two here",
      { ipFamilyPolicy: "RequireDualStack" },
      ["IPv4"],
      ["spec.ipFamilyPolicy: this cluster is not configured for dual-stack services"],
    ],
    [
      "two only if it says so",
      { ipFamilies: both },
      both,
      ["spec.ipFamilyPolicy: must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified"],
    ],
  ])("%s", (_, spec, families, want) => expect(init(spec, families)).toEqual(want));

  it("gives up the second with the policy that asked for it", () => {
    const old: ServiceSpec = {
      type: "ClusterIP",
      clusterIP: "10.0.0.1",
      clusterIPs: ["10.0.0.1", "fd00::1"],
      ipFamilies: ["IPv4", "IPv6"],
      ipFamilyPolicy: "PreferDualStack",
    };
    expect(init({ ...old, ipFamilyPolicy: "SingleStack" }, both, old)).toEqual({
      families: ["IPv4"],
      policy: "SingleStack",
    });
    expect(init({ ...old, clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"] }, both, old)).toEqual([
      "spec.ipFamilyPolicy: must be 'SingleStack' to release the secondary cluster IP",
      "spec.ipFamilyPolicy: must be 'SingleStack' to release the secondary IP family",
    ]);
  });

  it.each<[string, object, ServiceSpec, object]>([
    [
      "keeps the policy that it had",
      { clusterIP: "None", clusterIPs: ["None"] },
      { clusterIP: "None", clusterIPs: ["None"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
      { families: ["IPv4"], policy: "SingleStack" },
    ],
    [
      "prefers two, and stays with one",
      { clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"], ipFamilyPolicy: "PreferDualStack" },
      { clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"], ipFamilyPolicy: "PreferDualStack" },
      { families: ["IPv4"], policy: "PreferDualStack" },
    ],
  ])("after an update: %s", (_, spec, old, want) => expect(init(spec, both, old)).toEqual(want));
});

describe("updates of a service", () => {
  const specAfter = (before: object, next: object) => {
    const old = create(Service, { metadata, spec: { ports, ...before } }).object;
    return (update(Service, { metadata, spec: { ports, ...next } }, old).object as ServiceObject).spec ?? {};
  };

  it("keep what was allocated if the client does not say it again", () => {
    const named = [
      { name: "a", port: 80, nodePort: 30001 },
      { name: "b", port: 81, nodePort: 30002 },
    ];
    const next = specAfter(
      { type: "NodePort", clusterIP: "10.0.0.7", ports: named },
      {
        type: "NodePort",
        ports: [
          { name: "b", port: 81 },
          { name: "a", port: 80 },
          { name: "c", port: 82 },
        ],
      },
    );
    expect(next).toMatchObject({ clusterIP: "10.0.0.7", clusterIPs: ["10.0.0.7"] });
    expect(next.ports?.map(({ nodePort }) => nodePort)).toEqual([30002, 30001, undefined]);
  });

  it("do not give a node port twice", () => {
    const before = { type: "NodePort", ports: [{ name: "a", port: 80, nodePort: 30001 }] };
    const next = specAfter(before, {
      type: "NodePort",
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 81, nodePort: 30001 },
      ],
    });
    expect(next.ports?.map(({ nodePort }) => nodePort)).toEqual([undefined, 30001]);
  });

  it("drop what the new type has no use for", () => {
    const external = specAfter(
      { clusterIP: "10.0.0.7" },
      { type: "ExternalName", externalName: "a.example.com", clusterIP: "10.0.0.7", clusterIPs: ["10.0.0.7"] },
    );
    expect(external).not.toHaveProperty("clusterIP");
    expect(external).not.toHaveProperty("ipFamilies");
    const plain = specAfter(
      { type: "NodePort", ports: [{ port: 80, nodePort: 30001 }] },
      { type: "ClusterIP", ports: [{ port: 80, nodePort: 30001 }] },
    );
    expect(plain.ports?.[0]).not.toHaveProperty("nodePort");
  });

  it("may not change addresses", () => {
    expect(
      changeFaults(
        Service,
        { spec: { ports, clusterIP: "10.0.0.7" } },
        { spec: { ports, clusterIP: "10.0.0.8", clusterIPs: ["10.0.0.7"] } },
      ),
    ).toEqual(['spec.clusterIPs[0]: Invalid value: ["10.0.0.8"]: may not change once set']);
  });

  it("reports a class that is not the load balancer's twice", () => {
    const why = "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'";
    const before = { spec: { ports } };
    expect(changeFaults(Service, before, { spec: { ports, loadBalancerClass: "a" } })).toEqual([why, why]);
  });

  it("may not change the load balancer's class", () => {
    const spec = { ports, type: "LoadBalancer", loadBalancerClass: "a/b" };
    expect(changeFaults(Service, { spec }, { spec: { ...spec, loadBalancerClass: "a/c" } })).toEqual([
      'spec.loadBalancerClass: Invalid value: "a/c": may not change once set',
    ]);
  });
});

describe("a service's status", () => {
  const status = (type: "ClusterIP" | "LoadBalancer", point: object) => {
    const service: ServiceObject = { metadata, spec: { type }, status: { loadBalancer: { ingress: [point] } } };
    return validateServiceStatus(service, { metadata }, at()).map(({ field }) =>
      field.replace("status.loadBalancer.ingress", ""),
    );
  };

  it.each<["ClusterIP" | "LoadBalancer", object, readonly string[]]>([
    ["LoadBalancer", { ip: "192.0.2.1", ipMode: "VIP" }, []],
    ["LoadBalancer", { ip: "192.0.2.1" }, ["[0].ipMode"]],
    ["LoadBalancer", { ipMode: "VIP" }, ["[0].ipMode"]],
    ["LoadBalancer", { hostname: "192.0.2.1" }, ["[0].hostname"]],
    ["ClusterIP", { hostname: "a.example.com" }, [""]],
  ])("%s %j", (type, point, want) => expect(status(type, point)).toEqual(want));
});

it("is headless with no address but None", () => {
  expect([["None"], ["10.0.0.1"], []].map((clusterIPs) => isHeadless({ metadata, spec: { clusterIPs } }))).toEqual([
    true,
    false,
    false,
  ]);
});

describe("warnings about a service", () => {
  const headless = { type: "ClusterIP", clusterIP: "None", clusterIPs: ["None"], sessionAffinity: "None" };
  it.each<{ spec: object; want: readonly string[] }>([
    { spec: { type: "ClusterIP", clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"] }, want: [] },
    {
      spec: { type: "ClusterIP", externalName: "a" },
      want: ['spec.externalName is ignored when spec.type is not "ExternalName"'],
    },
    {
      spec: { type: "ExternalName", externalIPs: ["10.0.0.1"] },
      want: ['spec.externalIPs is ignored when spec.type is "ExternalName"'],
    },
    {
      spec: { ...headless, loadBalancerIP: "10.0.0.1", externalIPs: ["10.0.0.1"], sessionAffinity: "ClientIP" },
      want: ["spec.loadBalancerIP", "spec.externalIPs", "spec.SessionAffinity"].map(
        (field) => `${field} is ignored for headless services`,
      ),
    },
    {
      spec: { type: "LoadBalancer", loadBalancerSourceRanges: ["10.1.2.3/8"] },
      want: [expect.stringContaining("spec.loadBalancerSourceRanges[0]: CIDR value ")],
    },
  ])("$spec", ({ spec, want }) => {
    expect(Service.warnings?.({ metadata: { name: "a" }, spec } as never, undefined)).toEqual(want);
  });
});
