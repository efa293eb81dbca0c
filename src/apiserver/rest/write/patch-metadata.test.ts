/** A patch of metadata alone takes a shorter way: what comes of it must be the same, for every kind. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiVersionOf, builtIn, type Kind } from "#api";
import { makeRequest } from "../../../pki/testing/request.ts";
import { type TestAnswer, type TestServer, testServer } from "../../testing/index.ts";
import { samples } from "../../testing/samples.ts";

const objects = samples({ certificateRequestPem: makeRequest({ commonName: "jane" }).pem });
const patched = builtIn.filter(({ verbs }) => verbs.includes("create") && verbs.includes("patch"));
const nameOf = (kind: Kind) => `${apiVersionOf(kind)} ${kind.kind}`;

/** The same requests give the same answers: one server gets the patches, the other the same with a null status. */
let short: TestServer;
let long: TestServer;
beforeAll(async () => {
  [short, long] = [await testServer(), await testServer()];
});
afterAll(() => Promise.all([short.close(), long.close()]));

const patches = [
  { metadata: { labels: { a: "b" }, annotations: { c: "d" } } },
  { metadata: { labels: null } },
  { metadata: { finalizers: ["example.com/one"], resourceVersion: "" } },
  { metadata: { labels: { a: "b" } } },
  { metadata: { labels: { a: "b" } } },
  { metadata: { labels: { a: 1 } } },
  { metadata: { annotations: { "no good key": "x" } } },
  { metadata: { bogus: 1 } },
  { metadata: { name: "another" } },
  { kind: "Other", metadata: { labels: { a: "c" } } },
  { metadata: { finalizers: [] } },
];

describe.each(["merge-patch", "strategic-merge-patch"])("a %s of metadata", (type) => {
  it.each(patched.map((kind) => [nameOf(kind), kind] as const))("of %s: as if it spoke of more", async (name, kind) => {
    const root = kind.group === "" ? "/api/v1" : `/apis/${apiVersionOf(kind)}`;
    const path = `${root}${kind.scope === "Namespaced" ? "/namespaces/default" : ""}/${kind.names.plural}`;
    const given = { metadata: { name: type }, ...objects.get(name) };
    const body = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...given };
    const both = async (method: string, at: string, one: object, other: object, headers = {}) => {
      const answers = [
        await short.request(method, at, { body: one, headers }),
        await long.request(method, at, { body: other, headers }),
      ] as const;
      const [first, second] = answers.map(comparable);
      expect(first).toEqual(second);
    };
    await both("POST", path, body, body);
    for (const server of [short, long]) await server.clock.advance(5_000);
    const headers = { "content-type": `application/${type}+json`, "user-agent": "patcher/1" };
    for (const patch of patches)
      await both("PATCH", `${path}/${given.metadata.name}`, patch, { ...patch, status: null }, headers);
  });
});

/** Messages show the patched object, which has no status where the patch speaks of it: their ends count. */
function comparable({ status, json }: TestAnswer): unknown {
  const message = String(json.message);
  return { status, json: status === 422 ? message.slice(message.lastIndexOf('": ')) : json };
}
