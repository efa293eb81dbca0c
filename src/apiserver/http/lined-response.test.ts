import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SharedHeaders } from "./exchange.ts";
import { LinedResponse } from "./lined-response.ts";
import type { AnswerHeaders } from "./send.ts";

let headers: AnswerHeaders = {};
let shared: SharedHeaders | undefined;
let failed: unknown;
const server = createServer({ ServerResponse: LinedResponse }, (_, response) => {
  try {
    response.head(200, headers, shared);
  } catch (error) {
    failed = error;
  }
  response.end("body");
});
beforeEach(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  server.close();
  await once(server, "close");
});

async function sent(given: AnswerHeaders, besides?: SharedHeaders): Promise<IncomingMessage["headers"]> {
  headers = given;
  shared = besides;
  const [response] = (await once(get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), "response")) as [
    IncomingMessage,
  ];
  expect((await Array.fromAsync(response)).join("")).toBe("body");
  return response.headers;
}

describe("the head of an answer", () => {
  const schema = "x-kubernetes-pf-flowschema-uid";
  it.each([
    { name: "that is known by heart", given: { "content-type": "application/json", [schema]: "b7" } },
    { name: "with other values", given: { "content-type": "application/yaml", [schema]: "c8" } },
    { name: "with headers of its own", given: { "audit-id": "1", "cache-control": "no-cache, private" } },
    { name: "with a list", given: { "content-type": "text/plain", warning: "299 - a" } },
    { name: "without anything", given: {} },
  ])("$name, twice", async ({ given }) => {
    for (const _ of [1, 2]) expect(await sent({ "content-length": 4, ...given })).toMatchObject(given);
  });

  it("has what it shares with others, and only that", async () => {
    const [one, other] = ["b7", "c8"].map((uid) => new SharedHeaders({ [schema]: uid, "x-also": "yes" }));
    for (const _ of [1, 2]) {
      expect(await sent({ "audit-id": "1" }, one)).toMatchObject({ "audit-id": "1", [schema]: "b7", "x-also": "yes" });
      expect(await sent({}, other)).toMatchObject({ [schema]: "c8", "x-also": "yes" });
      expect(await sent({})).not.toHaveProperty(schema);
    }
  });

  it("has as many values as there are, and no other answer's", async () => {
    for (let i = 0; i < 600; i++) expect((await sent({ [schema]: `uid-${i}` }))[schema]).toBe(`uid-${i}`);
    expect(Object.keys(await sent({ "content-length": 4 })).sort()).toEqual([
      "connection",
      "content-length",
      "date",
      "keep-alive",
    ]);
  });

  it.each(["a\r\nset-cookie: b", "a\n", "大"])("cannot be broken out of: %j", async (value) => {
    failed = undefined;
    expect((await sent({}, new SharedHeaders({ [schema]: value })))[schema]).toBeUndefined();
    expect(failed).toBeInstanceOf(TypeError);
    failed = undefined;
    expect((await sent({ [schema]: value }))[schema]).toBeUndefined();
    expect(failed).toMatchObject({ code: "ERR_INVALID_CHAR" });
  });
});
