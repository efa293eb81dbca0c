import { describe, expect, it } from "vitest";
import { EgressConfigError, parseEgress } from "./configuration.ts";

const file = (selections: unknown, head: object = {}) =>
  JSON.stringify({
    apiVersion: "apiserver.k8s.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: selections,
    ...head,
  });
const parse = (text: string) => parseEgress(text, "f.yaml", (path) => !path.startsWith("/absent"));

function problem(text: string): string {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof EgressConfigError) return error.message.replace(/^.*configuration: f.yaml: /, "");
    throw error;
  }
  return "";
}

const via = (proxyProtocol: string, transport?: object, name = "cluster") =>
  file([{ name, connection: { proxyProtocol, ...(transport && { transport }) } }]);
const https = (tlsConfig?: object) =>
  via("HTTPConnect", { tcp: { url: "https://proxy:443", ...(tlsConfig && { tlsConfig }) } });
const files = { caBundle: "/ca", clientCert: "/cert", clientKey: "/key" };

it("says how each kind of connection is made", () => {
  const text = `
apiVersion: apiserver.k8s.io/v1
kind: EgressSelectorConfiguration
egressSelections:
- name: Cluster
  connection: { proxyProtocol: GRPC, transport: { uds: { udsName: /run/k.sock } } }
- name: controlplane
  connection: { proxyProtocol: Direct }
- name: etcd
  connection:
    proxyProtocol: HTTPConnect
    transport: { tcp: { url: "https://p:1", tlsConfig: { clientCert: /cert, clientKey: /key } } }
`;
  expect([...parse(text)]).toEqual([
    ["cluster", { protocol: "GRPC", transport: { kind: "uds", path: "/run/k.sock" } }],
    ["controlplane", { protocol: "Direct" }],
    [
      "etcd",
      {
        protocol: "HTTPConnect",
        transport: {
          kind: "tcp",
          url: "https://p:1",
          tls: { caBundle: undefined, clientCert: "/cert", clientKey: "/key" },
        },
      },
    ],
  ]);
});

describe("is refused", () => {
  it.each([
    [file([], { kind: "Other" }), 'f.yaml: invalid service configuration object "Other"'],
    [
      file([], { apiVersion: "v1" }),
      /^f.yaml: the apiVersion of an EgressSelectorConfiguration is apiserver.k8s.io\/v1 /,
    ],
    [
      via("Socks"),
      'service.connection.protocol: Unsupported value: "Socks": supported values: "Direct", "GRPC", "HTTPConnect"',
    ],
    [
      via("Direct", { uds: {} }),
      'service.connection.transport: Invalid value: "direct": Transport config should be absent for direct connect',
    ],
    [via("HTTPConnect"), "service.connection.transport: Required value: transport must be set for HTTPConnect"],
    [via("HTTPConnect", {}), "service.connection.tcp: Required value: One of TCP or UDS must be set"],
    [
      via("HTTPConnect", { tcp: {}, uds: {} }),
      /^service.connection.tcp: Invalid value: .*: TCP and UDS cannot both be set$/,
    ],
    [
      via("HTTPConnect", { uds: {} }),
      'service.connection.udsName: Invalid value: "nil": UDSName should be present for UDS connections',
    ],
    [
      via("HTTPConnect", { tcp: { url: "ftp://x" } }),
      'service.connection.url: Invalid value: "ftp://x": supported connection protocols are http:// and https://',
    ],
    [
      via("HTTPConnect", { tcp: { url: "http://x", tlsConfig: files } }),
      'service.connection.tlsConfig: Invalid value: "nil": TLSConfig config should not be present when using HTTP',
    ],
    [https(), "service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS"],
    [
      https({ ...files, caBundle: "/absent" }),
      'service.connection.tlsConfig.caBundle: Invalid value: "/absent": TLS config ca bundle does not exist',
    ],
    [
      https({ clientKey: "/key" }),
      'service.connection.tlsConfig.clientCert: Invalid value: "nil": Using TLS requires clientCert',
    ],
    [
      https({ ...files, clientKey: "/absent" }),
      'service.connection.tlsConfig.clientKey: Invalid value: "/absent": TLS client key does not exist',
    ],
    [via("GRPC"), "service.connection.transport: Required value: transport must be set for GRPC"],
    [via("GRPC", { tcp: { url: "http://x" } }), "service.connection.uds: Required value: UDS must be set with GRPC"],
    [
      via("Direct", undefined, "nodes"),
      'service.connection: Unsupported value: "nodes": supported values: "cluster", "controlplane", "etcd"',
    ],
    [
      file([1, 2].map(() => ({ name: "etcd", connection: { proxyProtocol: "Direct" } }))),
      'service.connection[1]: Duplicate value: "etcd"',
    ],
    [file([{ name: "etcd", connection: { proxyProtocol: "Direct" }, x: 1 }]), /x: Forbidden: unknown field$/],
  ])("%s", (text, want) => {
    if (typeof want === "string") expect(problem(text)).toBe(want);
    else expect(problem(text)).toMatch(want);
  });
});
