import { afterAll, beforeAll, expect, it } from "vitest";
import { realClock, seededRandom, silentLogger } from "#base";
import { Client, inProcess } from "#client";
import { type TestServer, testServer } from "../../apiserver/testing/index.ts";
import { installDefinitions } from "./definitions.ts";
import { definitionEstablished } from "./established.ts";
import { GATEWAYS, GatewayResource } from "./kinds.ts";

const clock = realClock();
let server: TestServer;
let client: Client;

beforeAll(async () => {
  server = await testServer();
  client = new Client({ transport: inProcess(server.handle, { name: "admin", groups: ["system:masters"] }), clock });
});
afterAll(async () => {
  await client.close();
  await server.close();
});

const established = (signal: AbortSignal) =>
  definitionEstablished({ client, clock, random: seededRandom(1), log: silentLogger }, GATEWAYS, signal);

it("ends with its signal while there is no definition", async () => {
  const ending = new AbortController();
  const waiting = established(ending.signal);
  ending.abort(new Error("over"));
  await expect(waiting).rejects.toThrow("over");
});

it("returns when the kind is served, at once if it is already", async () => {
  const { signal } = new AbortController();
  const first = established(signal).then(() => client.of(GatewayResource).list());
  await installDefinitions(client, signal);
  expect(await first).toMatchObject({ items: [] });
  await established(signal);
});
