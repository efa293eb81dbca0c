/**
 * The kinds that `--runtime-config` adds: absent by default; served, they do what all kinds do, and versions of one
 * kind show the same objects.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  apiVersionOf,
  builtIn,
  decodeEnvelope,
  decodeProtobuf,
  encodeEnvelope,
  encodeProtobuf,
  type JsonObject,
  type Kind,
  optionalKinds,
  parseRuntimeConfig,
  servedKinds,
} from "#api";
import { VirtualClock } from "#base";
import { createAuthority } from "#pki";
import { makeRequest } from "../pki/testing/request.ts";
import { runFuzzCase } from "./testing/fuzz/fuzz-case.ts";
import { type TestServer, testServer } from "./testing/index.ts";
import { optionalSamples } from "./testing/optional-samples.ts";

const SEED = 20261118;
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const served = servedKinds({ runtimeConfig: parseRuntimeConfig("api/all=true"), enabled: () => true });
const authority = await createAuthority({ commonName: "sample", clock: new VirtualClock() });
const samples = optionalSamples({
  authorityPem: authority.certPem,
  certificateRequest: makeRequest({ commonName: "" }).der,
});
const nameOf = (kind: Kind) => `${apiVersionOf(kind)} ${kind.kind}`;
const rows = optionalKinds.map((kind) => [nameOf(kind), kind] as const);

function collectionOf(kind: Kind): string {
  return `/apis/${apiVersionOf(kind)}${kind.scope === "Namespaced" ? "/namespaces/default" : ""}/${kind.names.plural}`;
}

function sampleOf(kind: Kind): JsonObject & { readonly metadata: { readonly name: string } } {
  const rest = samples.get(nameOf(kind));
  if (rest === undefined) throw new Error(`${nameOf(kind)} has no sample`);
  const sample = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name: "sample" }, ...rest };
  return sample as unknown as JsonObject & { readonly metadata: { readonly name: string } };
}

async function serving(kinds: readonly Kind[]): Promise<TestServer> {
  const server = await testServer({ kinds });
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } };
  await server.request("POST", "/api/v1/namespaces", { body });
  return server;
}

describe("by default", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await serving(builtIn);
  });
  afterAll(() => server.close());

  it.each(rows)("%s is not served", async (_, kind) => {
    expect((await server.request("GET", collectionOf(kind))).status).toBe(404);
    expect((await server.request("POST", collectionOf(kind), { body: sampleOf(kind) })).status).toBe(404);
  });
});

describe("where it is asked for", () => {
  it.each(rows)("%s does what all kinds do", async (_, kind) => {
    const server = await serving(served);
    const collection = collectionOf(kind);
    const sample = sampleOf(kind);
    const path = `${collection}/${sample.metadata.name}`;
    const watch = await server.watch(`${collection}?watch=true`);
    const created = await server.request("POST", collection, { body: sample });
    expect(created.json).toMatchObject({ kind: kind.kind, apiVersion: apiVersionOf(kind) });
    expect([created.status, String(created.headers.warning ?? "")]).toEqual([
      201,
      kind.deprecated === undefined ? "" : expect.stringContaining(kind.deprecated),
    ]);

    const table = await server.request("GET", collection, {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
    });
    expect(table.json).toMatchObject({
      kind: "Table",
      rows: [{ cells: expect.arrayContaining([sample.metadata.name]) }],
    });

    const patched = await server.request("PATCH", path, {
      body: { metadata: { labels: { a: "b" } } },
      headers: { "content-type": "application/merge-patch+json" },
    });
    expect([patched.status, patched.metadata.labels]).toEqual([200, { a: "b" }]);
    const applied = await server.request("PATCH", `${path}?fieldManager=me&force=true`, {
      body: { ...sample, metadata: { name: sample.metadata.name, labels: { c: "d" } } },
      headers: { "content-type": "application/apply-patch+yaml" },
    });
    expect([applied.status, applied.metadata.labels]).toEqual([200, { a: "b", c: "d" }]);

    const bytes = (await server.request("GET", path, { headers: { accept: PROTOBUF } })).bytes;
    const raw = decodeEnvelope(bytes).raw;
    expect(decodeProtobuf(kind.schema, raw)).toMatchObject({ metadata: { labels: { a: "b", c: "d" } } });
    await server.request("DELETE", path);
    const again = await server.request("POST", collection, {
      body: Buffer.from(
        encodeEnvelope({ apiVersion: apiVersionOf(kind), kind: kind.kind, raw: encodeProtobuf(kind.schema, sample) }),
      ),
      headers: { "content-type": PROTOBUF },
    });
    expect(again.status).toBe(201);
    expect(await watch.seen()).toEqual(
      ["ADDED", "MODIFIED", "MODIFIED", "DELETED", "ADDED"].map((type) => `${type} ${sample.metadata.name}`),
    );
    await watch.close();
    await server.close();
  });

  it("versions of one kind show the same objects, and remember who applied what", async () => {
    const server = await serving(served);
    const claims = (version: string) => `/apis/resource.k8s.io/${version}/namespaces/default/resourceclaims`;
    const older = optionalKinds.find((kind) => nameOf(kind) === "resource.k8s.io/v1beta1 ResourceClaim") as Kind;
    await server.request("POST", claims("v1beta1"), { body: sampleOf(older) });
    const request = { name: "one", exactly: { deviceClassName: "sample", allocationMode: "ExactCount", count: 1 } };
    for (const version of ["v1", "v1beta2"]) {
      const { json } = await server.request("GET", `${claims(version)}/sample`);
      expect(json).toMatchObject({
        apiVersion: `resource.k8s.io/${version}`,
        spec: { devices: { requests: [request] } },
      });
    }
    const { list } = await server.request("GET", claims("v1beta1"));
    expect(list.items).toMatchObject([
      { spec: { devices: { requests: [{ name: "one", deviceClassName: "sample", count: 1 }] } } },
    ]);
    await server.close();
  });

  it("discovery lists them in the order of Kubernetes", async () => {
    const server = await serving(served);
    const { json } = await server.request("GET", "/apis/resource.k8s.io");
    expect(json).toMatchObject({
      preferredVersion: { version: "v1" },
      versions: ["v1", "v1beta2", "v1beta1", "v1alpha3"].map((version) => ({ version })),
    });
    const groups = (await server.request("GET", "/apis")).json.groups as unknown as readonly {
      readonly name: string;
    }[];
    expect(groups.slice(-3).map(({ name }) => name)).toEqual([
      "flowcontrol.apiserver.k8s.io",
      "internal.apiserver.k8s.io",
      "storagemigration.k8s.io",
    ]);
    const document = (await server.request("GET", "/openapi/v3/apis/certificates.k8s.io/v1beta1")).json;
    expect(Object.keys(document.paths as JsonObject)).toContain(
      "/apis/certificates.k8s.io/v1beta1/clustertrustbundles/{name}",
    );
    const schemas = (document.components as JsonObject).schemas as JsonObject;
    expect(schemas["io.k8s.api.certificates.v1beta1.ClusterTrustBundle"]).toMatchObject({
      "x-kubernetes-group-version-kind": [
        { group: "certificates.k8s.io", kind: "ClusterTrustBundle", version: "v1beta1" },
      ],
    });
    await server.close();
  });
});

describe("random objects", () => {
  const seeds = (maxLength: number) => fc.array(fc.noShrink(fc.nat()), { maxLength });
  const plans = fc.record({ edits: seeds(4), writes: seeds(8) });

  it.each(rows)(
    "%s",
    async (_, kind) => {
      const apiVersion = apiVersionOf(kind);
      const sample = sampleOf(kind);
      const fuzzed = { kind, apiVersion, collection: collectionOf(kind), schema: kind.schema, sample, served };
      expect(await runFuzzCase(fuzzed, { edits: [], writes: [] })).toBe(true);
      await fc.assert(
        fc.asyncProperty(plans, async (plan) => void (await runFuzzCase(fuzzed, plan))),
        { seed: SEED, numRuns: 6 },
      );
    },
    120_000,
  );
});
