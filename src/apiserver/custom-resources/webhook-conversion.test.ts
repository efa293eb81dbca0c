/** Versions that a webhook converts: a real server with TLS, which may do whatever it likes. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { settled } from "#base";
import { type TestServer, testServer } from "../testing/index.ts";
import {
  type Behaviour,
  DEFINITIONS,
  definition,
  renaming,
  reviewed,
  type TestWebhook,
  testWebhook,
  widget,
} from "./testing/index.ts";

const V1 = "/apis/example.com/v1/namespaces/default/widgets";
const V2 = "/apis/example.com/v2/namespaces/default/widgets";
const MERGE = { "content-type": "application/merge-patch+json" };
const APPLY = { "content-type": "application/apply-patch+yaml" };
const ABOUT = "conversion webhook for example.com/v1, Kind=Widget";

let server: TestServer;
let webhook: TestWebhook;
beforeEach(async () => {
  [server, webhook] = await Promise.all([testServer(), testWebhook(["localhost", "convert.hooks.svc"])]);
});
afterEach(async () => {
  await server.close();
  await webhook.close();
});

async function define(clientConfig: object = { url: webhook.url, caBundle: webhook.caBundle }) {
  const body = definition({
    versions: [
      { name: "v1", storage: true },
      { name: "v2", selectableFields: [{ jsonPath: ".spec.length" }], schema: LENGTH },
    ],
    conversion: { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } },
  });
  const answer = await server.request("POST", DEFINITIONS, { body });
  expect(answer.status, answer.text).toBe(201);
  await server.settle();
}
const LENGTH = {
  type: "object",
  properties: { spec: { type: "object", properties: { length: { type: "integer" }, more: { type: "string" } } } },
};
const create = (name: string, size: number) => server.request("POST", V1, { body: widget(name, { size }) });
const objectsAsked = () =>
  webhook.questions.flatMap(({ request }) => request.objects.map(({ metadata }) => (metadata as JsonObject).name));

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  await settled();
}

describe("a version that a webhook converts", () => {
  it("is read, listed, selected and written", async () => {
    await define();
    await create("a", 1);
    await create("b", 2);
    expect(webhook.questions).toEqual([]);
    expect((await server.request("GET", `${V2}/a`)).json).toMatchObject({
      apiVersion: "example.com/v2",
      spec: { length: 1 },
    });
    const { json } = await server.request("GET", V2);
    expect(json).toMatchObject({ items: [{ spec: { length: 1 } }, { spec: { length: 2 } }] });
    const selected = await server.request("GET", `${V2}?fieldSelector=spec.length=2`);
    expect(selected.list.names).toEqual(["default/b"]);
    expect(objectsAsked()).toEqual(["a", "b"]);

    const body = { apiVersion: "example.com/v2", kind: "Widget", metadata: { name: "c" }, spec: { length: 3 } };
    expect((await server.request("POST", V2, { body })).json).toMatchObject({ spec: { length: 3 } });
    expect((await server.request("GET", `${V1}/c`)).json).toMatchObject({
      apiVersion: "example.com/v1",
      spec: { size: 3 },
    });
    const patched = await server.request("PATCH", `${V2}/c`, { body: { spec: { length: 4 } }, headers: MERGE });
    expect([patched.status, patched.json]).toMatchObject([200, { spec: { length: 4 }, metadata: { generation: 2 } }]);
    expect((await server.request("DELETE", `${V2}/c`)).status).toBe(200);
  });

  it("is asked for once for each object and revision, by however many", async () => {
    await define();
    await create("a", 1);
    await Promise.all(Array.from({ length: 5 }, () => server.request("GET", `${V2}/a`)));
    await server.request("GET", V2);
    expect(objectsAsked()).toEqual(["a"]);
    await server.request("PATCH", `${V1}/a`, { body: { spec: { size: 2 } }, headers: MERGE });
    expect((await server.request("GET", `${V2}/a`)).json).toMatchObject({ spec: { length: 2 } });
    expect(objectsAsked()).toEqual(["a", "a"]);
  });

  it("goes in batches, a few at once", async () => {
    await define();
    await Promise.all(Array.from({ length: 250 }, (_, i) => create(`n-${i}`, i)));
    const { list } = await server.request("GET", V2);
    expect(list.items.length).toBe(250);
    expect(webhook.questions.map(({ request }) => request.objects.length).toSorted()).toEqual([100, 100, 50]);
  });

  it("is watched in order, also while the webhook is slow", async () => {
    await define();
    await create("a", 1);
    const watch = await server.watch(`${V2}?watch=1&fieldSelector=spec.length!=3`);
    await create("b", 2);
    await create("c", 3);
    await server.request("PATCH", `${V1}/b`, { body: { spec: { size: 3 } }, headers: MERGE });
    await server.request("DELETE", `${V1}/a`);
    await until(() => watch.events.length >= 4);
    expect(await watch.seen()).toEqual(["ADDED a", "ADDED b", "DELETED b", "DELETED a"]);
    expect(watch.events[1]?.object).toMatchObject({ apiVersion: "example.com/v2", spec: { length: 2 } });
  });

  it("has owners of fields by the version in which they wrote", async () => {
    await define();
    const apply = (path: string, version: string, spec: object, manager: string) =>
      server.request("PATCH", `${path}/a?fieldManager=${manager}`, {
        body: widget("a", spec, version),
        headers: APPLY,
      });
    expect((await apply(V1, "v1", { size: 1 }, "one")).status).toBe(201);
    const conflict = await apply(V2, "v2", { length: 2 }, "two");
    expect(conflict.json).toMatchObject({ code: 409, details: { causes: [{ field: ".spec.size" }] } });
    expect((await apply(V2, "v2", { length: 1, more: "x" }, "two")).status).toBe(200);
    const { metadata } = await server.request("GET", `${V2}/a`);
    expect(metadata.managedFields?.map(({ manager, apiVersion }) => [manager, apiVersion])).toEqual([
      ["one", "example.com/v1"],
      ["two", "example.com/v2"],
    ]);
  });
});

describe("a webhook that does wrong", () => {
  const converted = (question: Parameters<Behaviour>[0], more: JsonObject): JsonObject =>
    reviewed(
      question,
      question.request.objects.map((object) => ({
        ...object,
        apiVersion: question.request.desiredAPIVersion,
        ...more,
      })),
    );
  it.each<{ name: string; behave: Behaviour; want: string }>([
    {
      name: "garbage",
      behave: () => "garbage",
      want: `${ABOUT} failed: couldn't get version/kind; json parse error: invalid character 'g' looking for beginning of value`,
    },
    {
      name: "an error",
      behave: () => ({ status: 500, text: "boom" }),
      want: `${ABOUT} failed: an error on the server ("boom") has prevented the request from succeeding`,
    },
    {
      name: "another uid",
      behave: (q) => ({ ...(renaming(q) as JsonObject), response: { uid: "other" } }),
      want: "expected response.uid=",
    },
    { name: "nothing at all", behave: (q) => reviewed(q, []), want: `${ABOUT} returned 0 objects, expected 1` },
    {
      name: "another name",
      behave: (q) => converted(q, { metadata: { name: "z" } }),
      want: `${ABOUT} returned invalid object: must have the same name: a != z`,
    },
    {
      name: "the same version",
      behave: (q) => reviewed(q, q.request.objects),
      want: `${ABOUT} returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)`,
    },
  ])("$name: is told to who asked, and to nobody else", async ({ behave, want }) => {
    await define();
    await create("a", 1);
    webhook.behave(behave);
    for (const path of [`${V2}/a`, V2]) {
      const { json } = await server.request("GET", path);
      expect(json).toMatchObject({ kind: "Status", code: 500, message: expect.stringContaining(want) });
    }
    expect((await server.request("GET", `${V1}/a`)).status).toBe(200);
    webhook.behave(renaming);
    expect((await server.request("GET", `${V2}/a`)).status).toBe(200);
  });

  it("hangs: is waited for no longer than its time", async () => {
    await define();
    await create("a", 1);
    webhook.behave(() => undefined);
    const asked = server.request("GET", `${V2}/a`);
    await until(() => webhook.questions.length > 0);
    await server.clock.advance(30_000);
    expect((await asked).json).toMatchObject({
      code: 500,
      message: `${ABOUT} failed: Post "${webhook.url}?timeout=30s": context deadline exceeded`,
    });
  });

  it("cannot be reached, or shows a certificate of somebody else", async () => {
    const { port } = webhook;
    await webhook.close();
    await define();
    await create("a", 1);
    expect((await server.request("GET", `${V2}/a`)).json.message).toBe(
      `${ABOUT} failed: Post "https://127.0.0.1:${port}/convert?timeout=30s": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    );
    const stranger = await testWebhook();
    try {
      await server.request("PATCH", `${DEFINITIONS}/widgets.example.com`, {
        body: { spec: { conversion: { webhook: { clientConfig: { url: stranger.url } } } } },
        headers: MERGE,
      });
      await server.settle();
      expect((await server.request("GET", `${V2}/a`)).json.message).toContain(
        "tls: failed to verify certificate: x509: certificate signed by unknown authority",
      );
    } finally {
      await stranger.close();
    }
  });

  it("ends a watch with an error", async () => {
    await define();
    const watch = await server.watch(`${V2}?watch=1`);
    webhook.behave(() => "garbage");
    await create("a", 1);
    await until(() => watch.ended);
    expect(await watch.seen()).toEqual(["ERROR 500"]);
  });

  it("keeps nobody from writing in the version that is stored", async () => {
    await define();
    const body = { apiVersion: "example.com/v2", kind: "Widget", metadata: { name: "a" }, spec: { length: 1 } };
    await server.request("POST", `${V2}?fieldManager=two`, { body });
    webhook.behave(() => "garbage");
    const patch = { body: { spec: { size: 2 } }, headers: MERGE };
    const { status, metadata } = await server.request("PATCH", `${V1}/a?fieldManager=one`, patch);
    expect([status, metadata.managedFields?.map(({ manager }) => manager)]).toEqual([200, ["two"]]);
  });

  it("does not keep its definition from being deleted", async () => {
    await define();
    await create("a", 1);
    webhook.behave(() => "garbage");
    await server.request("DELETE", `${DEFINITIONS}/widgets.example.com`);
    await server.settle();
    expect((await server.request("GET", `${DEFINITIONS}/widgets.example.com`)).status).toBe(404);
  });
});

describe("a webhook behind a Service", () => {
  const service = { service: { namespace: "hooks", name: "convert", path: "/convert", port: 443 } };
  it("is found by its endpoints, and has a certificate of the Service's name", async () => {
    await define({ ...service, caBundle: webhook.caBundle });
    await create("a", 1);
    const message = async () => (await server.request("GET", `${V2}/a`)).json.message;
    const post = `${ABOUT} failed: Post "https://convert.hooks.svc:443/convert?timeout=30s"`;
    expect(await message()).toBe(`${post}: service "convert" not found`);
    await server.request("POST", "/api/v1/namespaces/hooks/services", {
      body: { apiVersion: "v1", kind: "Service", metadata: { name: "convert" }, spec: { ports: [{ port: 443 }] } },
    });
    expect(await message()).toBe(`${post}: no endpoints available for service "convert"`);
    // Straight into the store: no endpoint may be on the loopback device, where the webhook of this test is.
    const slice = {
      kind: "EndpointSlice",
      apiVersion: "discovery.k8s.io/v1",
      metadata: { name: "convert-1", namespace: "hooks", labels: { "kubernetes.io/service-name": "convert" } },
      addressType: "IPv4",
      ports: [{ name: "", port: webhook.port, protocol: "TCP" }],
      endpoints: [{ addresses: ["127.0.0.1"] }],
    };
    const key = "/registry/discovery.k8s.io/endpointslices/hooks/convert-1";
    await server.store.create(key, Buffer.from(JSON.stringify(slice)));
    await server.settle();
    expect((await server.request("GET", `${V2}/a`)).json).toMatchObject({ spec: { length: 1 } });
  });
});
