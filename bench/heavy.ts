/**
 * How long the dearest requests hold the serving thread at a time: every kind of input of the growth test, as large as a
 * request may be (3 MiB), by a server whose large writes run in a thread of their own, and by one where they do not.
 *
 *     npm run bench -- heavy
 *     K8TS_HEAVY=YAML npm run bench -- heavy             only inputs whose names contain that
 *     K8TS_HEAVY_PHASES=1 npm run bench -- heavy         and what each phase takes where nothing is handed over
 */
import { bodies } from "../src/apiserver/testing/growth/bodies.ts";
import { hostile } from "../src/apiserver/testing/growth/hostile.ts";
import { type Input, widgetDefinition } from "../src/apiserver/testing/growth/input.ts";
import { objects } from "../src/apiserver/testing/growth/objects.ts";
import { patches } from "../src/apiserver/testing/growth/patches.ts";
import { readsAndRules } from "../src/apiserver/testing/growth/reads-and-rules.ts";
import { type TestServer, type TestServerOptions, testServer } from "../src/apiserver/testing/index.ts";
import { type Holds, holdsOf, phasesOf } from "./heavy/holds.ts";
import type { Figure } from "./run.ts";

const MAX_BYTES = 3 * 1024 * 1024;
const MAX_URL_BYTES = 1_000_000;
const GROWN = 10;
const ROUNDS = 2;

export async function run(report: (figure: Figure) => void): Promise<void> {
  const only = process.env.K8TS_HEAVY ?? "";
  const inputs = [...bodies, ...objects, ...patches, ...readsAndRules, ...hostile];
  for (const input of inputs.filter(({ name }) => name.includes(only))) {
    const plain = await measured(input, undefined);
    const heavy = await measured(input, { allowPrivileged: true });
    const name = `${input.name} (${(heavy.bytes / 1e6).toFixed(1)} MB)`;
    const { longestMs, totalMs, elapsedMs } = heavy.holds;
    report({ name, value: longestMs, unit: "ms held", bound: plain.holds.longestMs });
    report({ name: "  cpu of the serving thread", value: totalMs, unit: "ms", bound: plain.holds.totalMs });
    report({ name: "  until the answer", value: elapsedMs, unit: "ms", bound: plain.holds.elapsedMs });
    if (process.env.K8TS_HEAVY_PHASES === undefined) continue;
    const shown = [...plain.phases]
      .filter(([, ms]) => ms >= 5)
      .sort(([, a], [, b]) => b - a)
      .map(([phase, ms]) => `${phase} ${ms.toFixed(0)}`);
    console.log(`      ${shown.join(", ")}`);
  }
}

async function measured(input: Input, heavy: TestServerOptions["heavy"]) {
  const server = await testServer({ heavy });
  try {
    await server.request("POST", widgetDefinition.path, { body: widgetDefinition.body });
    await server.settle();
    await (await prepared(server, input, input.size)).send();
    const { send, bytes } = await prepared(server, input, largest(input));
    await send();
    let holds: Holds = { longestMs: Number.POSITIVE_INFINITY, totalMs: 0, elapsedMs: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const found = await holdsOf(send);
      if (found.longestMs < holds.longestMs) holds = found;
    }
    const phases =
      heavy === undefined && process.env.K8TS_HEAVY_PHASES !== undefined ? await phasesOf(send) : new Map();
    return { holds, bytes, phases };
  } finally {
    await server.close();
  }
}

/** The largest size whose body a server takes. */
function largest(input: Input): number {
  const most = (input.most ?? Number.POSITIVE_INFINITY) * GROWN;
  const limit = input.body === undefined ? MAX_URL_BYTES : MAX_BYTES;
  let size = input.size;
  for (let step = 0; step < 4; step++) {
    const bytes = bytesOf(input, size);
    if (bytes > limit * 0.9 && bytes <= limit) break;
    size = Math.min(most, Math.floor((size * limit * 0.97) / bytes));
    if (size === most) break;
  }
  while (bytesOf(input, size) > limit) size = Math.floor(size * 0.95);
  return size;
}

function bytesOf(input: Input, size: number): number {
  const before = input.before?.(size) ?? [];
  const bodies = before.map(({ body }) => Buffer.byteLength(JSON.stringify(body)));
  return Math.max(Buffer.byteLength(sent(input, size) ?? ""), ...bodies, String(pathOf(input, size)).length);
}

function pathOf(input: Input, size: number): string {
  return typeof input.path === "string" ? input.path : input.path(size);
}

function sent(input: Input, size: number): string | Buffer | undefined {
  const body = input.body?.(size);
  return typeof body === "object" && !Buffer.isBuffer(body) ? JSON.stringify(body) : body;
}

async function prepared(server: TestServer, input: Input, size: number) {
  for (const { path, body } of input.before?.(size) ?? []) {
    const { status, text } = await server.request("POST", path, { body });
    if (status >= 300) console.log(`      before: ${status} ${text.slice(0, 200)}`);
  }
  const { method, type = "application/json", accept } = input;
  const path = pathOf(input, size);
  const text = sent(input, size);
  const body = text === undefined ? undefined : Buffer.from(text);
  const headers = { "content-type": type, ...(accept !== undefined && { accept }) };
  let status = 0;
  const send = async () => {
    ({ status } = await server.request(method, path, { ...(body !== undefined && { body }), headers }));
    if (status >= 500 && status !== input.status) console.log(`      ${status}`);
  };
  return { send, bytes: Buffer.byteLength(body ?? path) };
}
