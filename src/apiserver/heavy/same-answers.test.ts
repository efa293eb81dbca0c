/**
 * A write that runs in the thread has the same answer as one that runs here, byte by byte: every kind of input of the
 * growth test, sent to a server that hands over everything and to one that hands over nothing.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodies } from "../testing/growth/bodies.ts";
import { hostile } from "../testing/growth/hostile.ts";
import { type Input, widgetDefinition } from "../testing/growth/input.ts";
import { objects } from "../testing/growth/objects.ts";
import { patches } from "../testing/growth/patches.ts";
import { readsAndRules } from "../testing/growth/reads-and-rules.ts";
import { type TestServer, testServer } from "../testing/index.ts";

const SMALL = 3;
const inputs = [...bodies, ...objects, ...patches, ...readsAndRules, ...hostile].filter(
  ({ method }) => method !== "GET",
);

let here: TestServer;
let elsewhere: TestServer;

beforeAll(async () => {
  here = await testServer();
  elsewhere = await testServer({ heavy: { allowPrivileged: true, largeBytes: 0 } });
  for (const server of [here, elsewhere]) {
    await server.request("POST", widgetDefinition.path, { body: widgetDefinition.body });
    await server.settle();
  }
});

afterAll(async () => {
  await here.close();
  await elsewhere.close();
});

async function answers(server: TestServer, input: Input, size: number) {
  const { method, type = "application/json", accept } = input;
  const all: unknown[] = [];
  const send = async (path: string, body: object | string | Buffer, headers: Record<string, string>, as = method) => {
    const { status, text, headers: answered } = await server.request(as, path, { body, headers });
    all.push({ status, answered, text: text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "UID") });
  };
  for (const { path, body } of input.before?.(size) ?? []) await send(path, body, {}, "POST");
  const path = typeof input.path === "string" ? input.path : input.path(size);
  const headers = { "content-type": type, ...(accept !== undefined && { accept }) };
  await send(path, input.body?.(size) ?? "", headers);
  // Also what is stored, and what it is answered when there is something already.
  await send(path.replace("dryRun=All", ""), input.body?.(size) ?? "", headers);
  await send(path.replace("dryRun=All", ""), input.body?.(size) ?? "", { ...headers, accept: "application/yaml" });
  return all;
}

describe("the same answer", () => {
  it.each(inputs.map((input) => [input.name, input] as const))("%s", async (_, input) => {
    const size = Math.max(SMALL, Math.floor(input.size / 10));
    expect(await answers(elsewhere, input, size)).toEqual(await answers(here, input, size));
  });
});
