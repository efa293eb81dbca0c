import { describe, expect, it } from "vitest";
import { changeFaults, create, faults } from "../testing/pure-server.ts";
import { Ingress } from "./ingress.ts";
import { IngressClass } from "./ingress-class.ts";
import { IPAddress } from "./ip-address.ts";
import { NetworkPolicy } from "./network-policy.ts";
import { ServiceCIDR } from "./service-cidr.ts";

const metadata = { name: "one" };
const backend = { service: { name: "s", port: { number: 80 } } };

describe("Ingress", () => {
  const withPath = (path: object) => ({ spec: { rules: [{ http: { paths: [{ backend, ...path }] } }] } });

  it.each<[object, readonly string[]]>([
    [{ spec: {} }, ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]],
    [
      { spec: { defaultBackend: {} } },
      ['spec.defaultBackend: Invalid value: "": resource or service backend is required'],
    ],
    [
      { spec: { defaultBackend: { service: { name: "s" } } } },
      ["spec.defaultBackend: Required value: port name or number is required"],
    ],
    [{ spec: { defaultBackend: { resource: { kind: "K", name: "n" } } } }, []],
    [withPath({}), ["spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"]],
    [
      withPath({ pathType: "Prefix", path: "a" }),
      ['spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path'],
    ],
    [
      withPath({ pathType: "Exact", path: "/a/../b" }),
      ["spec.rules[0].http.paths[0].path: Invalid value: \"/a/../b\": must not contain '/../'"],
    ],
    [
      { spec: { rules: [{ host: "10.0.0.1" }] } },
      ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
    ],
    [{ spec: { rules: [{ host: "*.example.com" }] } }, []],
  ])("%j", (body, want) => expect(faults(Ingress, body as never)).toEqual(want));

  it("means one class", () => {
    const annotations = { "kubernetes.io/ingress.class": "a" };
    const [error] = create(Ingress, {
      metadata: { ...metadata, annotations },
      spec: { defaultBackend: backend, ingressClassName: "b" },
    }).errors;
    expect(error?.detail).toBe("must match `ingressClassName` when both are specified");
  });
});

describe("IngressClass", () => {
  it("looks for its parameters in the cluster, and keeps its controller", () => {
    const spec = { controller: "example.com/c", parameters: { kind: "P", name: "p" } };
    expect(create(IngressClass, { metadata, spec }).object).toMatchObject({
      spec: { parameters: { scope: "Cluster" } },
    });
    expect(changeFaults(IngressClass, { spec }, { spec: { controller: "example.com/d" } })).toHaveLength(1);
  });
});

describe("NetworkPolicy", () => {
  it("is about what it speaks of", () => {
    const types = (spec: object) => create(NetworkPolicy, { metadata, spec: { ...spec } }).object;
    expect(types({})).toMatchObject({ spec: { policyTypes: ["Ingress"] } });
    expect(types({ egress: [{ ports: [{ port: 53 }] }] })).toMatchObject({
      spec: { policyTypes: ["Ingress", "Egress"], egress: [{ ports: [{ protocol: "TCP" }] }] },
    });
  });

  it.each<[object, readonly string[]]>([
    [{ ingress: [{ from: [{}] }] }, ["spec.ingress[0].from[0]: Required value: must specify a peer"]],
    [
      { ingress: [{ from: [{ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }] }] },
      ["spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer"],
    ],
    [
      { egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/16"] } }] }] },
      ['spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`'],
    ],
    [
      { ingress: [{ ports: [{ port: 80, endPort: 79 }] }] },
      ["spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`"],
    ],
    [
      { policyTypes: ["Odd"] },
      ['spec.policyTypes[0]: Unsupported value: "Odd": supported values: "Ingress", "Egress"'],
    ],
  ])("%j", (spec, want) => expect(faults(NetworkPolicy, { spec } as never)).toEqual(want));
});

describe("addresses of services", () => {
  it("are named after themselves, in one form", () => {
    expect(["10.0.0.1", "2001:db8::1"].map((name) => IPAddress.validateName?.(name, false))).toEqual([[], []]);
    expect(IPAddress.validateName?.("2001:DB8::1", false)).toHaveLength(1);
    expect(faults(IPAddress, { metadata: { name: "10.0.0.1" }, spec: {} })).toEqual(["spec.parentRef: Required value"]);
  });

  it("come from ranges that may get a second family", () => {
    const spec = { cidrs: ["10.0.0.0/16"] };
    expect(changeFaults(ServiceCIDR, { spec }, { spec: { cidrs: ["10.0.0.0/16", "fd00::/112"] } })).toEqual([]);
    expect(changeFaults(ServiceCIDR, { spec }, { spec: { cidrs: ["10.1.0.0/16"] } })).toHaveLength(1);
  });
});
