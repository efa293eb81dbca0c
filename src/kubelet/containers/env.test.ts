import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { RuntimeConfigError } from "./config-error.ts";
import { type EnvSources, environment, envReferences } from "./env.ts";
import { expand, expandAll } from "./expand.ts";
import { serviceEnv } from "./service-env.ts";

const pod: core.Pod = {
  metadata: {
    name: "web",
    namespace: "shop",
    uid: "u1",
    labels: { b: 'say "hi"', a: "1" },
    annotations: { note: "x" },
  },
  spec: {
    nodeName: "node-1",
    serviceAccountName: "robot",
    containers: [
      { name: "app", resources: { limits: { memory: "64Mi" }, requests: { cpu: "1500m", memory: "32Mi" } } },
      { name: "other", resources: { limits: { cpu: "2" } } },
    ],
  },
};
const base64 = (text: string) => Buffer.from(text).toString("base64");
const sources: EnvSources = {
  configMaps: new Map([["settings", { metadata: {}, data: { COLOR: "red", "2bad=": "no", "a.b": "dotted" } }]]),
  secrets: new Map([["keys", { metadata: {}, data: { PASS: base64("word") } }]]),
  services: { WEB_SERVICE_HOST: "10.0.0.1", COLOR: "from a service" },
  addresses: { podIps: ["10.244.0.2", "fd00::2"], hostIps: ["192.168.0.1"] },
  allocatable: { cpu: "4", memory: "8Gi" },
};
const env = (container: Partial<core.Container>) =>
  Object.fromEntries(environment(pod, { name: "app", ...container }, { ...sources, services: {} }).variables);
const from = (valueFrom: core.EnvVarSource) => env({ env: [{ name: "A", valueFrom }] }).A;

describe("variables of files", () => {
  const files = new Map([
    ["data/config.env", "COLOR='green'\n"],
    ["data/bad.env", "nonsense"],
  ]);
  const value = (selector: Partial<core.FileKeySelector>) => {
    const fileKeyRef = { volumeName: "data", path: "config.env", key: "COLOR", ...selector };
    const container = { name: "app", env: [{ name: "A", valueFrom: { fileKeyRef } }] };
    return environment(pod, container, { ...sources, files }).variables.get("A");
  };
  it.each([
    { given: {}, want: "green" },
    { given: { key: "SIZE", optional: true }, want: undefined },
    { given: { path: "none.env", optional: true }, want: undefined },
  ])("$given", ({ given, want }) => expect(value(given)).toBe(want));
  it.each([
    { given: { key: "SIZE" }, problem: 'environment variable key "SIZE" not found in file "config.env"' },
    { given: { path: "none.env" }, problem: 'file "none.env" not found in volume "data"' },
    { given: { path: "bad.env" }, problem: 'couldn\'t parse env file "bad.env": line 1' },
  ])("$given is an error", ({ given, problem }) => expect(() => value(given)).toThrow(problem));
});

describe("$(NAME)", () => {
  const known: Record<string, string> = { A: "1", B: "$(A)" };
  it.each([
    ["$(A)", "1"],
    ["$$(A)", "$(A)"],
    ["$$$(A)", "$1"],
    ["$(B)", "$(A)"],
    ["$(C) $(A)", "$(C) 1"],
    ["$A $ (A) $(", "$A $ (A) $("],
    ["$()", "$()"],
  ])("%s is %s", (text, want) => expect(expand(text, (name) => known[name])).toBe(want));

  it("returns unknown names", () => expect(expandAll("$(X)/$(A)", (name) => known[name]).missing).toEqual(["X"]));
});

describe("fields and resources", () => {
  it.each<[core.EnvVarSource, string]>([
    [{ fieldRef: { fieldPath: "metadata.name" } }, "web"],
    [{ fieldRef: { fieldPath: "metadata.uid" } }, "u1"],
    [{ fieldRef: { fieldPath: "metadata.labels" } }, 'a="1"\nb="say \\"hi\\""'],
    [{ fieldRef: { fieldPath: "metadata.annotations['note']" } }, "x"],
    [{ fieldRef: { fieldPath: "metadata.labels['none']" } }, ""],
    [{ fieldRef: { fieldPath: "spec.nodeName" } }, "node-1"],
    [{ fieldRef: { fieldPath: "spec.serviceAccountName" } }, "robot"],
    [{ fieldRef: { fieldPath: "status.podIP" } }, "10.244.0.2"],
    [{ fieldRef: { fieldPath: "status.podIPs" } }, "10.244.0.2,fd00::2"],
    [{ fieldRef: { fieldPath: "status.hostIP" } }, "192.168.0.1"],
    [{ resourceFieldRef: { resource: "requests.cpu" } }, "2"],
    [{ resourceFieldRef: { resource: "requests.cpu", divisor: "1m" } }, "1500"],
    [{ resourceFieldRef: { resource: "limits.memory", divisor: "1Mi" } }, "64"],
    [{ resourceFieldRef: { resource: "limits.cpu" } }, "4"],
    [{ resourceFieldRef: { resource: "limits.cpu", containerName: "other" } }, "2"],
    [{ resourceFieldRef: { resource: "requests.memory", containerName: "other" } }, "0"],
    [{ configMapKeyRef: { name: "settings", key: "COLOR" } }, "red"],
    [{ secretKeyRef: { name: "keys", key: "PASS" } }, "word"],
  ])("%j is %j", (valueFrom, want) => expect(from(valueFrom)).toBe(want));

  it.each<[core.EnvVarSource, string]>([
    [{ configMapKeyRef: { name: "none", key: "a" } }, 'configmap "none" not found'],
    [{ configMapKeyRef: { name: "settings", key: "a" } }, "couldn't find key a in ConfigMap shop/settings"],
    [{ secretKeyRef: { name: "none", key: "a" } }, 'secret "none" not found'],
    [{ secretKeyRef: { name: "keys", key: "a" } }, "couldn't find key a in Secret shop/keys"],
    [{ fieldRef: { fieldPath: "status.phase" } }, "unsupported fieldPath: status.phase"],
  ])("%j fails: %s", (valueFrom, message) => expect(() => from(valueFrom)).toThrow(new RuntimeConfigError(message)));

  it("optional ones are left out", () => {
    expect(from({ configMapKeyRef: { name: "none", key: "a", optional: true } })).toBeUndefined();
    expect(from({ secretKeyRef: { name: "keys", key: "a", optional: true } })).toBeUndefined();
  });
});

describe("environment", () => {
  it("env goes before envFrom, that before services; values see what stands before them", () => {
    const container: core.Container = {
      name: "app",
      envFrom: [{ configMapRef: { name: "settings" } }, { prefix: "S_", secretRef: { name: "keys" } }],
      env: [
        { name: "FIRST", value: "$(COLOR) at $(WEB_SERVICE_HOST)" },
        { name: "COLOR", value: "blue" },
        { name: "SECOND", value: "$(COLOR) $(THIRD)" },
        { name: "THIRD", value: "late" },
      ],
    };
    const { variables, skipped } = environment(pod, container, sources);
    expect(Object.fromEntries(variables)).toEqual({
      COLOR: "blue",
      "a.b": "dotted",
      S_PASS: "word",
      FIRST: "red at 10.0.0.1",
      SECOND: "blue $(THIRD)",
      THIRD: "late",
      WEB_SERVICE_HOST: "10.0.0.1",
    });
    expect(skipped).toEqual([{ source: "ConfigMap shop/settings", keys: ["2bad="] }]);
  });

  it("knows what it refers to", () => {
    const references = envReferences({
      name: "app",
      envFrom: [{ configMapRef: { name: "a" } }],
      env: [{ name: "X", valueFrom: { secretKeyRef: { name: "b", key: "k" } } }],
    });
    expect(references).toEqual({ configMaps: new Set(["a"]), secrets: new Set(["b"]), files: [] });
  });
});

describe("services", () => {
  const service = (name: string, namespace: string, clusterIP: string, ports: core.ServicePort[]): core.Service => ({
    metadata: { name, namespace },
    spec: { clusterIP, ports },
  });
  const api = service("kubernetes", "default", "10.96.0.1", [{ name: "https", port: 443 }]);
  const all = [
    api,
    service("my-db", "shop", "10.96.0.7", [
      { name: "sql", port: 5432 },
      { port: 53, protocol: "UDP" },
    ]),
    service("headless", "shop", "None", [{ port: 80 }]),
    service("elsewhere", "other", "10.96.0.8", [{ port: 80 }]),
  ];

  it("has host, ports and links of the Services in the pod's namespace and of the API server", () => {
    expect(serviceEnv(pod, all)).toEqual({
      KUBERNETES_SERVICE_HOST: "10.96.0.1",
      KUBERNETES_SERVICE_PORT: "443",
      KUBERNETES_SERVICE_PORT_HTTPS: "443",
      KUBERNETES_PORT: "tcp://10.96.0.1:443",
      KUBERNETES_PORT_443_TCP: "tcp://10.96.0.1:443",
      KUBERNETES_PORT_443_TCP_PROTO: "tcp",
      KUBERNETES_PORT_443_TCP_PORT: "443",
      KUBERNETES_PORT_443_TCP_ADDR: "10.96.0.1",
      MY_DB_SERVICE_HOST: "10.96.0.7",
      MY_DB_SERVICE_PORT: "5432",
      MY_DB_SERVICE_PORT_SQL: "5432",
      MY_DB_PORT: "tcp://10.96.0.7:5432",
      MY_DB_PORT_5432_TCP: "tcp://10.96.0.7:5432",
      MY_DB_PORT_5432_TCP_PROTO: "tcp",
      MY_DB_PORT_5432_TCP_PORT: "5432",
      MY_DB_PORT_5432_TCP_ADDR: "10.96.0.7",
      MY_DB_PORT_53_UDP: "udp://10.96.0.7:53",
      MY_DB_PORT_53_UDP_PROTO: "udp",
      MY_DB_PORT_53_UDP_PORT: "53",
      MY_DB_PORT_53_UDP_ADDR: "10.96.0.7",
    });
  });

  it("without links only the API server's", () => {
    const lone = { ...pod, spec: { containers: [], enableServiceLinks: false } };
    expect(Object.keys(serviceEnv(lone, all)).every((name) => name.startsWith("KUBERNETES_"))).toBe(true);
  });
});
