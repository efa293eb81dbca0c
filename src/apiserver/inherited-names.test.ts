/** Names that every JavaScript object has: in maps of an API object they are names like any other. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestServer, testServer } from "./testing/index.ts";

let server: TestServer;

beforeAll(async () => {
  server = await testServer();
});

afterAll(() => server.close());

const names = ["constructor", "toString", "__proto__"];
const container = { name: "main", image: "app:1" };

/** Bodies as text: in a literal, `__proto__` would be no key. */
const rows: Readonly<Record<string, readonly [path: string, body: (name: string) => string]>> = {
  "limits that have no maximum": [
    "limitranges",
    (name) => `{"spec":{"limits":[{"type":"Container","min":{"${name}":"1"},"max":{"cpu":"1"}}]}}`,
  ],
  "scopes of a quota": [
    "resourcequotas",
    (name) =>
      `{"spec":{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"${name}","operator":"Exists"}]}}}`,
  ],
  "requests that have no limit": [
    "pods",
    (name) =>
      `{"spec":{"containers":[${JSON.stringify({ ...container, resources: "X" }).replace('"X"', `{"limits":{"cpu":"1"},"requests":{"${name}":"1"}}`)}]}}`,
  ],
};

const cases = Object.entries(rows).flatMap(([what, [path, body]]) =>
  names.map((name) => [`${what}: ${name}`, path, body(name)] as const),
);

it.each(cases)("%s", async (_, path, rest) => {
  const kinds: Readonly<Record<string, string>> = {
    limitranges: "LimitRange",
    resourcequotas: "ResourceQuota",
    pods: "Pod",
  };
  const body = `{"apiVersion":"v1","kind":"${kinds[path]}","metadata":{"name":"a"},${rest.slice(1)}`;
  const { status, json } = await server.request("POST", `/api/v1/namespaces/default/${path}`, { body });
  expect([status, json.reason]).toEqual([422, "Invalid"]);
});
