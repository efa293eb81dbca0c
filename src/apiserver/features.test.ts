/** What feature gates change in answers of the server. */
import { afterEach, describe, expect, it } from "vitest";
import { type FeatureFlags, type JsonObject, parseFeatures } from "#api";
import { type TestServer, testServer } from "./testing/index.ts";

const running: TestServer[] = [];

async function serverWith(
  flags: FeatureFlags,
  shared: Pick<Parameters<typeof testServer>[0] & {}, "store" | "clock"> = {},
) {
  const server = await testServer({ features: parseFeatures(flags), ...shared });
  running.push(server);
  return server;
}

afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

const PODS = "/api/v1/namespaces/default/pods";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const container = { name: "c", image: "x:1", lifecycle: { stopSignal: "SIGUSR1" } };
const spec = { os: { name: "linux" }, containers: [container], hostnameOverride: "host" };
const pod = { metadata: { name: "a" }, spec };
const deployment = {
  metadata: { name: "a" },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec },
  },
};

/** Of both fields, those that are there. */
function fieldsIn(template: { readonly spec: JsonObject }): readonly string[] {
  const { hostnameOverride, containers } = template.spec as { hostnameOverride?: string; containers: JsonObject[] };
  const lifecycle = containers[0]?.lifecycle as JsonObject | undefined;
  return [
    ...(lifecycle?.stopSignal === undefined ? [] : ["stopSignal"]),
    ...(hostnameOverride === undefined ? [] : ["hostnameOverride"]),
  ];
}

describe("fields of features", () => {
  it.each([
    { name: "an alpha field is dropped by default", gates: "", want: ["hostnameOverride"] },
    { name: "it is kept with its gate", gates: "ContainerStopSignals=true", want: ["stopSignal", "hostnameOverride"] },
    { name: "a beta field is dropped without its gate", gates: "HostnameOverride=false", want: [] },
  ])("$name, in a Pod and in a template", async ({ gates, want }) => {
    const server = await serverWith({ gates });
    const created = await server.request("POST", PODS, { body: pod });
    expect(created.status, JSON.stringify(created.json)).toBe(201);
    expect(fieldsIn(created.json as never)).toEqual(want);
    const workload = await server.request("POST", DEPLOYMENTS, { body: deployment });
    expect(workload.status, JSON.stringify(workload.json)).toBe(201);
    expect(fieldsIn((workload.json as { spec: { template: never } }).spec.template)).toEqual(want);
  });

  it("stay in objects that have them, and new objects do not get them", async () => {
    const on = await serverWith({ gates: "ContainerStopSignals=true" });
    await on.request("POST", DEPLOYMENTS, { body: deployment });
    await on.settle();
    const off = await serverWith({}, { store: on.store, clock: on.clock });
    const labels = [{ op: "add", path: "/metadata/labels", value: { x: "y" } }];
    const options = { headers: { "content-type": "application/json-patch+json" }, body: labels };
    const patched = await off.request("PATCH", `${DEPLOYMENTS}/a`, options);
    expect(patched.status, JSON.stringify(patched.json)).toBe(200);
    expect(fieldsIn((patched.json as { spec: { template: never } }).spec.template)).toContain("stopSignal");
    const other = { ...deployment, metadata: { name: "b" } };
    const created = await off.request("POST", DEPLOYMENTS, { body: other });
    expect(fieldsIn((created.json as { spec: { template: never } }).spec.template)).not.toContain("stopSignal");
  });
});

describe("rules of features", () => {
  const hpa = {
    metadata: { name: "a" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" },
      minReplicas: 0,
      maxReplicas: 3,
      metrics: [
        {
          type: "External",
          external: { metric: { name: "q" }, target: { type: "Value", value: "1" } },
        },
      ],
    },
  };
  it.each([
    { gates: "", status: 422 },
    { gates: "HPAScaleToZero=true", status: 201 },
  ])("an autoscaler to zero, with $gates: $status", async ({ gates, status }) => {
    const server = await serverWith({ gates });
    const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    expect((await server.request("POST", path, { body: hpa })).status).toBe(status);
  });

  it("a claim of data in another namespace", async () => {
    const dataSourceRef = { apiGroup: "example.com", kind: "Data", name: "d", namespace: "other" };
    const resources = { requests: { storage: "1Gi" } };
    const claim = { metadata: { name: "a" }, spec: { accessModes: ["ReadWriteOnce"], resources, dataSourceRef } };
    const path = "/api/v1/namespaces/default/persistentvolumeclaims";
    const kept = async (gates: string) => {
      const server = await serverWith({ gates });
      const { json: body } = await server.request("POST", path, { body: claim });
      return (body as { spec: { dataSourceRef?: unknown } }).spec.dataSourceRef;
    };
    expect(await kept("")).toBeUndefined();
    expect(await kept("CrossNamespaceVolumeDataSource=true")).toEqual(dataSourceRef);
  });

  it("a watch that begins with the state", async () => {
    const server = await serverWith({ gates: "WatchList=false" });
    const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const { status, json: body } = await server.request("GET", `${PODS}?${query}`);
    expect(status).toBe(422);
    expect((body as { message: string }).message).toContain(
      "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
    );
  });
});

describe("what the server says of its features", () => {
  it("is a metric for each gate", async () => {
    const server = await serverWith({ gates: "ContainerStopSignals=true,HostnameOverride=false" });
    const { text } = await server.request("GET", "/metrics");
    expect(text).toContain('kubernetes_feature_enabled{name="ContainerStopSignals",stage="ALPHA"} 1');
    expect(text).toContain('kubernetes_feature_enabled{name="HostnameOverride",stage="BETA"} 0');
    expect(text).toContain('kubernetes_feature_enabled{name="ImageVolume",stage=""} 1');
    expect(text).toContain('kubernetes_feature_enabled{name="KMSv1",stage="DEPRECATED"} 0');
  });

  it.each([
    { flags: {}, want: { minor: "36", emulationMinor: "36", minCompatibilityMinor: "35" } },
    { flags: { emulatedVersion: "1.34" }, want: { minor: "36", emulationMinor: "34", minCompatibilityMinor: "33" } },
  ])("is the version that it emulates: $flags", async ({ flags, want }) => {
    const server = await serverWith(flags);
    expect((await server.request("GET", "/version")).json).toMatchObject(want);
  });

  it.each([
    { flags: {}, want: ["v1"] },
    { flags: { emulatedVersion: "1.33" }, want: undefined },
  ])("are the groups of that version: $flags", async ({ flags, want }) => {
    const server = await serverWith(flags);
    const { json } = await server.request("GET", "/apis");
    const groups = json.groups as unknown as { name: string; versions: { version: string }[] }[];
    const found = groups.find(({ name }) => name === "resource.k8s.io");
    expect(found?.versions.map(({ version }) => version)).toEqual(want);
  });
});
