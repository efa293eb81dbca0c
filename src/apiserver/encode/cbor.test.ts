/** CBOR behind its feature gate: what is sent, answered, watched and refused. */
import { afterEach, describe, expect, it } from "vitest";
import { decodeCbor, decodeCborSequence, encodeCbor, type Json, type JsonObject, parseFeatures } from "#api";
import { configMap, type TestServer, testServer } from "../testing/index.ts";

const CORE = "/api/v1/namespaces/default";
const CONFIG_MAPS = `${CORE}/configmaps`;
const CBOR = "application/cbor";
const both = { "content-type": CBOR, accept: CBOR };
const definition = {
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget" },
    versions: [
      {
        ...{ name: "v1", served: true, storage: true },
        schema: {
          openAPIV3Schema: { type: "object", properties: { size: { type: "integer" }, part: { type: "number" } } },
        },
      },
    ],
  },
};

let server: TestServer;
afterEach(() => server.close());

async function start(isOn: boolean): Promise<void> {
  const features = parseFeatures(isOn ? { gates: "CBORServingAndStorage=true" } : {});
  server = await testServer({ features });
}

async function send(method: string, path: string, value?: Json, headers: Record<string, string> = both) {
  const body = value === undefined ? {} : { body: Buffer.isBuffer(value) ? value : Buffer.from(encodeCbor(value)) };
  const answer = await server.request(method, path, { ...body, headers });
  expect(answer.headers["content-type"]).toBe(CBOR);
  return { status: answer.status, value: decodeCbor(answer.bytes) as JsonObject & { message: string } };
}

const shown = async (path: string) => (await server.request("GET", path)).json;

describe("with CBORServingAndStorage", () => {
  it("objects are created, read, updated, deleted, as in JSON", async () => {
    await start(true);
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { a: "/////w==" } };
    const created = await send("POST", `${CORE}/secrets`, secret);
    expect(created.status).toBe(201);
    expect(created.value).toEqual(await shown(`${CORE}/secrets/s`));
    expect((await send("GET", `${CORE}/secrets/s`)).value).toMatchObject({ data: { a: "/////w==" } });
    const changed = { ...created.value, data: { a: "AAAA" } };
    expect(await send("PUT", `${CORE}/secrets/s`, changed)).toMatchObject({
      status: 200,
      value: { data: { a: "AAAA" } },
    });
    const options = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 };
    expect(await send("DELETE", `${CORE}/secrets/s`, options)).toMatchObject({ value: { status: "Success" } });
  });

  it("lists are those of JSON, before and after a change", async () => {
    await start(true);
    for (let i = 0; i < 5; i++) await server.request("POST", CONFIG_MAPS, { body: configMap(`c-${i}`, { t: "é" }) });
    for (const change of [undefined, "c-3"]) {
      if (change !== undefined) await server.request("DELETE", `${CONFIG_MAPS}/${change}`);
      for (const query of ["", "?labelSelector=none%3Dsuch", "?resourceVersion=0"])
        expect((await send("GET", CONFIG_MAPS + query)).value).toEqual(await shown(CONFIG_MAPS + query));
    }
    const table = { accept: `${CBOR};as=Table;v=v1;g=meta.k8s.io` };
    expect((await send("GET", CONFIG_MAPS, undefined, table)).value).toMatchObject({ kind: "Table" });
    const partial = { accept: `${CBOR};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io` };
    expect((await send("GET", CONFIG_MAPS, undefined, partial)).value).toMatchObject({
      kind: "PartialObjectMetadataList",
    });
  });

  it.each([CBOR, "application/cbor-seq"])("watches that accept %s are sequences", async (accept) => {
    await start(true);
    const watch = await server.watch(`${CONFIG_MAPS}?watch=1`, { headers: { accept } });
    expect(watch.headers["content-type"]).toBe("application/cbor-seq");
    await server.request("POST", CONFIG_MAPS, { body: configMap("a", { b: "c" }) });
    await server.request("DELETE", `${CONFIG_MAPS}/a`);
    await server.settle();
    await watch.close();
    const events = [...decodeCborSequence(watch.bytes)] as { type: string; object: JsonObject }[];
    expect(events.map(({ type }) => type)).toEqual(["ADDED", "DELETED"]);
    expect(events[0]?.object).toMatchObject({ kind: "ConfigMap", data: { b: "c" } });
  });

  it("applies configurations, creates custom resources, and scales", async () => {
    await start(true);
    const headers = { ...both, "content-type": "application/apply-patch+cbor" };
    const applied = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "1" } };
    const path = `${CONFIG_MAPS}/a?fieldManager=me`;
    expect(await send("PATCH", path, applied, headers)).toMatchObject({ status: 201, value: { data: { x: "1" } } });
    expect(await send("PATCH", path, Buffer.from("a1") as unknown as Json, headers)).toMatchObject({
      status: 400,
      value: { message: expect.stringContaining("error decoding CBOR: cbor: ") },
    });
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    expect((await server.request("POST", crds, { body: definition })).status).toBe(201);
    await server.settle();
    const widgets = "/apis/example.com/v1/namespaces/default/widgets";
    const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, size: 3, part: 1.5 };
    expect(await send("POST", widgets, widget)).toMatchObject({ status: 201, value: { size: 3, part: 1.5 } });
    expect((await send("GET", widgets)).value).toEqual(await shown(widgets));
    expect(await send("POST", `${widgets}?fieldValidation=Strict`, { ...widget, bogus: 1 })).toMatchObject({
      status: 400,
      value: { message: expect.stringContaining('unknown field "bogus"') },
    });
  });

  const name = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } };
  it.each([
    { what: "nothing", body: Buffer.alloc(0), says: "unable to determine group/version/kind: EOF (<empty>)" },
    {
      what: "no CBOR",
      body: Buffer.from("{}"),
      says: "the object provided is unrecognized (must be of type ConfigMap)",
    },
    { what: "a key twice", body: Buffer.from("a2416100416100", "hex"), says: 'found duplicate map key "a"' },
    {
      what: "another kind",
      body: Buffer.from(encodeCbor({ ...name, kind: "Pod" })),
      says: "cannot be handled as a ConfigMap",
    },
    { what: "a number for a text", body: Buffer.from(encodeCbor({ ...name, data: { a: 1 } })), says: "of type string" },
    {
      what: "an unknown field",
      body: Buffer.from(encodeCbor({ ...name, bogus: 1 })),
      says: "strict decoding error: cbor: found unknown field at map element index 3",
    },
  ])("refuses $what", async ({ body, says }) => {
    await start(true);
    const answer = await send("POST", `${CONFIG_MAPS}?fieldValidation=Strict`, body as unknown as Json);
    expect(answer).toMatchObject({ status: 400, value: { message: expect.stringContaining(says) } });
  });

  it("stands among the types of OpenAPI", async () => {
    await start(true);
    const { text } = await server.request("GET", "/openapi/v3/api/v1");
    for (const type of [CBOR, "application/cbor-seq", "application/apply-patch+cbor"])
      expect(text).toContain(JSON.stringify(type));
  });

  it("answers errors in CBOR, and names it among the types", async () => {
    await start(true);
    expect(await send("GET", `${CONFIG_MAPS}/none`)).toMatchObject({ status: 404, value: { reason: "NotFound" } });
    const headers = { ...both, "content-type": "text/plain" };
    const { message } = (await send("POST", CONFIG_MAPS, name, headers)).value;
    expect(message).toContain("application/cbor");
  });
});

describe("without it", () => {
  it("CBOR is a type like any other that is not known", async () => {
    await start(false);
    const body = Buffer.from(encodeCbor({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } }));
    const posted = await server.request("POST", CONFIG_MAPS, { body, headers: { "content-type": CBOR } });
    expect(posted).toMatchObject({ status: 415 });
    expect(posted.text).not.toContain("cbor");
    const asked = await server.request("GET", CONFIG_MAPS, { headers: { accept: CBOR } });
    expect(asked).toMatchObject({ status: 406 });
    expect(asked.text).not.toContain("cbor");
    const headers = { "content-type": "application/apply-patch+cbor" };
    expect(await server.request("PATCH", `${CONFIG_MAPS}/x`, { body, headers })).toMatchObject({ status: 415 });
    expect((await server.request("GET", "/openapi/v3/api/v1")).text).not.toContain("cbor");
  });
});
