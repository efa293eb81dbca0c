import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import type { Step } from "../pipeline/compose.ts";
import type { Authenticated } from "../pipeline/exchange.ts";
import { deployment, namespace, type TestServer, testServer } from "../testing/index.ts";
import { type AdmissionPlugin, rule } from "./chain/plugin.ts";
import { admitting } from "./testing/index.ts";

const NS = "/api/v1/namespaces/a";
let server: TestServer;
afterEach(() => server.close());

/** Notes what plugins are shown of each write. */
async function recorded(options: Parameters<typeof testServer>[0] = {}) {
  const seen: string[] = [];
  const note = (stage: string) =>
    rule("CREATE UPDATE DELETE CONNECT", "*/*", ({ operation, resource, subresource, object, old, annotate }) => {
      const part = subresource === "" ? "" : `/${subresource}`;
      seen.push(
        `${stage} ${operation} ${resource.kind.names.plural}${part} ${object?.kind ?? "-"} ${old?.kind ?? "-"}`,
      );
      annotate("seen.example.com/by", stage);
    });
  const recorder: AdmissionPlugin = { name: "Recorder", mutates: [note("mutate")], validates: [note("validate")] };
  server = await testServer({ admission: admitting({}, [recorder]), ...options });
  await server.request("POST", "/api/v1/namespaces", { body: namespace("a") });
  seen.length = 0;
  return seen;
}

describe("plugins are shown", () => {
  it("creations, changes and deletions, each twice", async () => {
    const seen = await recorded();
    await server.request("POST", `${NS}/secrets`, { body: { metadata: { name: "s" } } });
    const { json } = await server.request("GET", `${NS}/secrets/s`);
    await server.request("PUT", `${NS}/secrets/s`, { body: { ...json, data: { a: "YQ==" } } });
    await server.request("DELETE", `${NS}/secrets/s`);
    expect(seen).toEqual([
      "mutate CREATE secrets Secret -",
      "validate CREATE secrets Secret -",
      "mutate UPDATE secrets Secret Secret",
      "validate UPDATE secrets Secret Secret",
      "mutate DELETE secrets - Secret",
      "validate DELETE secrets - Secret",
    ]);
  });

  it("every object of a collection that is deleted", async () => {
    const seen = await recorded();
    for (const name of ["s", "t"]) await server.request("POST", `${NS}/secrets`, { body: { metadata: { name } } });
    seen.length = 0;
    await server.request("DELETE", `${NS}/secrets`);
    expect(seen.filter((each) => each === "validate DELETE secrets - Secret")).toHaveLength(2);
  });

  it("a Scale where somebody scales, and what they make of it counts", async () => {
    const halves: AdmissionPlugin = {
      name: "Halves",
      mutates: [
        rule("UPDATE", "deployments.apps/scale", ({ object }) => {
          const { spec } = object as unknown as { spec: { replicas: number } };
          spec.replicas /= 2;
        }),
      ],
    };
    server = await testServer({ admission: admitting({}, [halves]) });
    await server.request("POST", "/api/v1/namespaces", { body: namespace("a") });
    const path = "/apis/apps/v1/namespaces/a/deployments";
    await server.request("POST", path, { body: deployment("d", 1) });
    const { json } = await server.request("GET", `${path}/d/scale`);
    await server.request("PUT", `${path}/d/scale`, { body: { ...json, spec: { replicas: 8 } } as JsonObject });
    expect((await server.request("GET", `${path}/d`)).json).toMatchObject({ spec: { replicas: 4 } });
  });

  it("status, and nothing else of the object's own", async () => {
    const seen = await recorded();
    const { json } = await server.request("GET", "/api/v1/namespaces/a");
    await server.request("PUT", "/api/v1/namespaces/a/status", { body: json });
    expect(seen).toEqual([
      "mutate UPDATE namespaces/status Namespace Namespace",
      "validate UPDATE namespaces/status Namespace Namespace",
    ]);
  });

  it("a place to note things for audit", async () => {
    const noted: (string | undefined)[] = [];
    const audit: Step<Authenticated> = async (exchange, next) => {
      const response = await next(exchange);
      noted.push(exchange.annotations?.get("seen.example.com/by"));
      return response;
    };
    await recorded({ steps: { audit } });
    noted.length = 0;
    await server.request("POST", `${NS}/secrets`, { body: { metadata: { name: "s" } } });
    await server.request("GET", `${NS}/secrets/s`);
    // What was noted first stays.
    expect(noted).toEqual(["mutate", undefined]);
  });
});

describe("NamespaceAutoProvision", () => {
  it("makes the namespace of what is written, but not for a dry run", async () => {
    server = await testServer({ admission: admitting({ enable: ["NamespaceAutoProvision"] }) });
    const path = "/api/v1/namespaces/new/secrets";
    const body = { metadata: { name: "s" } };
    expect((await server.request("POST", `${path}?dryRun=All`, { body })).status).toBe(404);
    const answers = await Promise.all(
      ["s", "t", "u"].map((name) => server.request("POST", path, { body: { metadata: { name } } })),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect((await server.request("GET", "/api/v1/namespaces/new")).status).toBe(200);
  });
});
