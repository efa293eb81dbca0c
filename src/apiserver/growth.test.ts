/**
 * Work is bounded by the size of what was sent: no request takes the square of its input, in any codec, patch, check or
 * expression. Each input is grown tenfold, and its processor time may grow about twelvefold: see `measure.ts`.
 *
 * K8TS_GROWTH=name runs only the inputs whose names contain that, and prints their figures.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseFeatures } from "#api";
import { bodies } from "./testing/growth/bodies.ts";
import { hostile } from "./testing/growth/hostile.ts";
import { type Input, widgetDefinition } from "./testing/growth/input.ts";
import { growthOf, isExcessive, type Prepared } from "./testing/growth/measure.ts";
import { objects } from "./testing/growth/objects.ts";
import { patches } from "./testing/growth/patches.ts";
import { readsAndRules } from "./testing/growth/reads-and-rules.ts";
import { type TestServer, testServer } from "./testing/index.ts";

const only = process.env.K8TS_GROWTH;
const inputs = [...bodies, ...objects, ...patches, ...readsAndRules, ...hostile].filter(({ name }) =>
  name.includes(only ?? ""),
);
const SLOW_MS = 60_000;

let server: TestServer;

beforeAll(async () => {
  server = await testServer({ features: parseFeatures({ gates: "CBORServingAndStorage=true" }) });
  await server.request("POST", widgetDefinition.path, { body: widgetDefinition.body });
  await server.settle();
});

afterAll(() => server.close());

async function prepared(input: Input, size: number): Promise<Prepared> {
  for (const { path, body } of input.before?.(size) ?? []) {
    const { status, text } = await server.request("POST", path, { body });
    expect(status, text.slice(0, 500)).toBe(201);
  }
  const { method, type = "application/json", accept } = input;
  const path = typeof input.path === "string" ? input.path : input.path(size);
  const sent = input.body?.(size);
  const body = typeof sent === "object" && !Buffer.isBuffer(sent) ? JSON.stringify(sent) : sent;
  const headers = { "content-type": type, ...(accept !== undefined && { accept }) };
  return {
    bytes: Buffer.byteLength(body ?? path),
    run: async () => {
      const { status, text } = await server.request(method, path, { ...(body !== undefined && { body }), headers });
      expect(status, text.slice(0, 500)).toBe(input.status);
    },
  };
}

describe("what takes longer when it is larger", () => {
  it.each(inputs.map((input) => [input.name, input] as const))(
    "%s",
    async (name, input) => {
      const growth = await growthOf((size) => prepared(input, size), input.size, input.most);
      if (only !== undefined) console.log(name, growth);
      expect(isExcessive(growth), JSON.stringify(growth)).toBe(false);
    },
    SLOW_MS,
  );
});
