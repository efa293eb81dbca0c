/**
 * A server that starts over a store of before: with one object of every kind, CRDs of every sort, and objects that
 * cannot be read.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiVersionOf, builtIn, type Kind } from "#api";
import { createLogger, MetricsRegistry, realClock, seededRandom } from "#base";
import { type ClusterPki, ensureClusterPki } from "#pki";
import { openMemoryStore, type Store } from "#store";
import { makeRequest } from "../pki/testing/request.ts";
import { storePrefixOf } from "./rest/resource.ts";
import { type ApiServer, startApiServer } from "./server.ts";
import { type RequestOptions, type TestAnswer, toAnswer, toRequest } from "./testing/exchange.ts";
import { ADMIN } from "./testing/index.ts";
import { definitionOf, samples, version } from "./testing/samples.ts";

const clock = realClock();
let dir: string;
let pki: ClusterPki;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "k8ts-restart-"));
  pki = await ensureClusterPki(dir, { clock, serverNames: { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] } });
});
afterAll(() => rm(dir, { recursive: true, force: true }));

interface Started {
  readonly server: ApiServer;
  readonly logged: readonly string[];
  send(method: string, path: string, options?: RequestOptions): Promise<TestAnswer>;
}

async function start(store: Store): Promise<Started> {
  const logged: string[] = [];
  const log = createLogger({ write: (line) => logged.push(line), format: "json", level: "warn", clock });
  const server = await startApiServer({
    host: "127.0.0.1",
    port: 0,
    certificate: { ...pki.apiserver, clientCaPem: pki.ca.certPem },
    store,
    sharedStore: false,
    clock,
    random: seededRandom(1),
    log,
    metrics: new MetricsRegistry(),
  });
  const send = async (method: string, path: string, options?: RequestOptions) =>
    toAnswer(await server.handle(toRequest(method, path, ADMIN, options)));
  return { server, logged, send };
}

const stored = builtIn.filter(({ verbs }) => verbs.includes("create") && verbs.includes("get"));
const nameOf = (kind: Kind) => `${apiVersionOf(kind)} ${kind.kind}`;

function collectionOf(kind: Kind): string {
  const root = kind.group === "" ? "/api/v1" : `/apis/${apiVersionOf(kind)}`;
  return `${root}${kind.scope === "Namespaced" ? "/namespaces/default" : ""}/${kind.names.plural}`;
}

const conversion = {
  strategy: "Webhook",
  webhook: { clientConfig: { url: "https://127.0.0.1:1/convert" }, conversionReviewVersions: ["v1"] },
};
const anything = {
  schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
};
const subresources = { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } };

/** CRDs of every sort. */
const definitions = [
  definitionOf("plains", {}),
  definitionOf("converteds", { conversion, versions: [version("v1", true), version("v2", false)] }),
  definitionOf("uniforms", { versions: [version("v1", false), version("v2", true)] }),
  definitionOf("wides", { scope: "Cluster" }),
  definitionOf("anythings", { versions: [version("v1", true, anything)] }),
  definitionOf("scaleds", { versions: [version("v1", true, { subresources })] }),
  definitionOf("heldbacks", { names: { plural: "heldbacks", singular: "heldback", kind: "Plain" } }),
];

async function fill({ send }: Started): Promise<void> {
  const objects = samples({ certificateRequestPem: makeRequest({ commonName: "jane" }).pem });
  for (const kind of stored) {
    const rest = objects.get(nameOf(kind));
    expect(rest, `${nameOf(kind)} has no sample`).toBeDefined();
    const body = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name: "sample" }, ...rest };
    const { status, json } = await send("POST", collectionOf(kind), { body });
    expect({ kind: nameOf(kind), status, message: json.message }).toMatchObject({ status: 201 });
  }
  const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  for (const definition of definitions) {
    const body = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", ...definition };
    expect(await send("POST", crds, { body })).toMatchObject({ status: 201 });
  }
  for (const [path, kind] of instances) {
    const body = { apiVersion: "example.com/v1", kind, metadata: { name: "one" }, spec: { size: 2 } };
    await expect
      .poll(async () => (await send("POST", path.slice(0, path.lastIndexOf("/")), { body })).status)
      .toBeOneOf([201, 409]);
  }
}

const instances = [
  ["/apis/example.com/v1/namespaces/default/plains/one", "Plain"],
  ["/apis/example.com/v1/namespaces/default/converteds/one", "Converted"],
  ["/apis/example.com/v1/namespaces/default/uniforms/one", "Uniform"],
  ["/apis/example.com/v1/wides/one", "Wide"],
  ["/apis/example.com/v1/namespaces/default/anythings/one", "Anything"],
  ["/apis/example.com/v1/namespaces/default/scaleds/one", "Scaled"],
] as const;

/** Every object that `fill` has made, as it is served. */
async function everything({ send }: Started): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const kind of stored) {
    const { list } = await send("GET", collectionOf(kind));
    for (const { metadata } of list.items)
      if (/sample|192\.0\.2\.7/.test(metadata.name ?? "")) found[`${nameOf(kind)} ${metadata.name}`] = metadata.uid;
  }
  for (const [path] of instances) found[path] = (await send("GET", path)).json;
  return found;
}

describe("a restart", () => {
  it("serves one object of every kind, and instances of every sort of CRD, as before", async () => {
    const store = openMemoryStore({ clock });
    const first = await start(store);
    await fill(first);
    const before = await everything(first);
    await first.server.stop();
    expect(Object.keys(before).length).toBeGreaterThan(stored.length);

    const second = await start(store);
    expect(await everything(second)).toEqual(before);
    await second.server.stop();
    await store.close();
  });

  it("is not stopped by stored objects that cannot be read, and reports each by its key", async () => {
    const store = openMemoryStore({ clock });
    const first = await start(store);
    await fill(first);
    await first.server.stop();

    const bad = new Map<string, string>();
    for (const kind of stored) {
      const inside = `${storePrefixOf(kind)}${kind.scope === "Namespaced" ? "default/" : ""}`;
      const head = `{"kind":"${kind.kind}","apiVersion":"${apiVersionOf(kind)}"`;
      bad.set(`${inside}garbage`, "k8s\0no json at all");
      bad.set(`${inside}cut-off`, `${head},"metadata":{"name":"cut-off"`);
      bad.set(`${inside}corrupt`, `${head},"metadata":{"name":"corrupt","labels":{]}}}`);
      bad.set(
        `${inside}unknown-version`,
        `{"kind":"${kind.kind}","apiVersion":"${kind.group}/v99","metadata":{"name":"unknown-version","uid":"u"}}`,
      );
      bad.set(
        `${inside}shapeless`,
        `${head},"metadata":{"name":"shapeless","uid":"s"},"spec":5,"rules":5,"webhooks":5}`,
      );
    }
    const brokenSchema = definitionOf("brokens", {
      versions: [version("v1", true, { schema: { openAPIV3Schema: { type: "object", properties: 5 } } })],
    });
    bad.set(
      "/registry/apiextensions.k8s.io/customresourcedefinitions/brokens.example.com",
      JSON.stringify({
        kind: "CustomResourceDefinition",
        apiVersion: "apiextensions.k8s.io/v1",
        ...brokenSchema,
        status: {
          acceptedNames: { plural: "brokens", kind: "Broken" },
          conditions: [
            { type: "NamesAccepted", status: "True" },
            { type: "Established", status: "True" },
          ],
        },
      }),
    );
    for (const [key, value] of bad) await store.create(key, Buffer.from(value));

    const second = await start(store);
    expect(await second.send("GET", "/readyz")).toMatchObject({ status: 200 });
    for (const [path] of instances) expect(await second.send("GET", path)).toMatchObject({ status: 200 });
    expect(await second.send("GET", "/api/v1/namespaces/default/pods/sample")).toMatchObject({ status: 200 });
    expect(
      await second.send("POST", "/api/v1/namespaces/default/configmaps", {
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "after" } },
      }),
    ).toMatchObject({ status: 201 });
    const reported = second.logged.join("");
    for (const plural of ["clusterroles", "customresourcedefinitions", "flowschemas", "apiservices"])
      for (const name of ["garbage", "cut-off", "corrupt"]) expect(reported).toMatch(new RegExp(`${plural}/${name}`));
    await second.server.stop();
    await store.close();
  });

  it("is not stopped by objects of its own that were damaged", async () => {
    const store = openMemoryStore({ clock });
    const first = await start(store);
    await first.server.stop();
    const { entries } = await store.list("/registry/");
    expect(entries.length).toBeGreaterThan(100);
    for (const { key, revision } of entries) await store.update(key, Buffer.from('{"kind":"Damaged"'), revision);

    const second = await start(store);
    expect(await second.send("GET", "/readyz")).toMatchObject({ status: 200 });
    expect(second.logged.join("")).toContain("/registry/rbac.authorization.k8s.io/clusterroles/cluster-admin");
    await second.server.stop();
    await store.close();
  });

  it.each<{ name: string; key: string; value: object | string }>([
    {
      name: "an RBAC rule without verbs",
      key: "rbac.authorization.k8s.io/clusterroles/view",
      value: clusterRole([{ apiGroups: null, resources: "pods" }]),
    },
    {
      name: "a policy with an expression that does not compile",
      key: "admissionregistration.k8s.io/validatingadmissionpolicies/broken",
      value: {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingAdmissionPolicy",
        metadata: { name: "broken", uid: "u" },
        spec: { matchConstraints: {}, validations: [{ expression: ")(" }] },
      },
    },
    {
      name: "a webhook without an address",
      key: "admissionregistration.k8s.io/validatingwebhookconfigurations/broken",
      value: {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingWebhookConfiguration",
        metadata: { name: "broken", uid: "u" },
        webhooks: [{ name: "broken" }, null, { name: "x.example.com", clientConfig: { caBundle: "no" }, rules: [{}] }],
      },
    },
    {
      name: "a FlowSchema without a level",
      key: "flowcontrol.apiserver.k8s.io/flowschemas/broken",
      value: {
        apiVersion: "flowcontrol.apiserver.k8s.io/v1",
        kind: "FlowSchema",
        metadata: { name: "broken", uid: "u" },
        spec: { rules: [{ subjects: [{ kind: "User" }] }] },
      },
    },
    {
      name: "a priority level that is limited by nothing",
      key: "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/broken",
      value: {
        apiVersion: "flowcontrol.apiserver.k8s.io/v1",
        kind: "PriorityLevelConfiguration",
        metadata: { name: "broken", uid: "u" },
        spec: { type: "Limited" },
      },
    },
    {
      name: "a range of addresses that is none",
      key: "networking.k8s.io/servicecidrs/broken",
      value: {
        apiVersion: "networking.k8s.io/v1",
        kind: "ServiceCIDR",
        metadata: { name: "broken", uid: "u" },
        spec: { cidrs: ["10.0.0.0/99", "x"] },
        status: { conditions: [{ type: "Ready", status: "True" }] },
      },
    },
    {
      name: "an APIService without a group",
      key: "apiregistration.k8s.io/apiservices/broken",
      value: {
        apiVersion: "apiregistration.k8s.io/v1",
        kind: "APIService",
        metadata: { name: "broken", uid: "u" },
        spec: { service: {} },
      },
    },
    { name: "a node port that nobody can have", key: "ranges/servicenodeports/30080", value: "no json" },
    { name: "a node port with another name", key: "ranges/servicenodeports/x", value: "{}" },
  ])("is not stopped by $name", async ({ key, value }) => {
    const store = openMemoryStore({ clock });
    await store.create(`/registry/${key}`, Buffer.from(typeof value === "string" ? value : JSON.stringify(value)));
    const { server, send } = await start(store);
    expect(await send("GET", "/readyz")).toMatchObject({ status: 200 });
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "after" } };
    expect(await send("POST", "/api/v1/namespaces/default/configmaps", { body })).toMatchObject({ status: 201 });
    await server.stop();
    await store.close();
  });
});

function clusterRole(rules: readonly object[]): object {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "view", uid: "u" },
    rules,
  };
}
