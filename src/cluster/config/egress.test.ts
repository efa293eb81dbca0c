import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MetricsRegistry, realClock } from "#base";
import { openEgress } from "./egress.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "k8ts-egress-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const open = (file: string | undefined) => openEgress(file, { clock: realClock(), metrics: new MetricsRegistry() });

async function written(selections: object): Promise<string> {
  const file = join(dir, "egress.json");
  const head = { apiVersion: "apiserver.k8s.io/v1beta1", kind: "EgressSelectorConfiguration" };
  await writeFile(file, JSON.stringify({ ...head, egressSelections: selections }));
  return file;
}

it("is what the file says, and nothing without a file", async () => {
  expect(await open(undefined)).toBeUndefined();
  const uds = { transport: { uds: { udsName: "/run/k.sock" } } };
  const file = await written([
    { name: "cluster", connection: { proxyProtocol: "GRPC", ...uds } },
    { name: "etcd", connection: { proxyProtocol: "Direct" } },
  ]);
  expect(await open(file)).toEqual({ cluster: expect.any(Function) });
});

it("a file that is missing, or wrong, is an error that names the flag", async () => {
  await expect(open(join(dir, "none"))).rejects.toThrow(/^--egress-selector-config-file: ENOENT/);
  const file = await written([{ name: "etcd", connection: { proxyProtocol: "Socks" } }]);
  await expect(open(file)).rejects.toThrow(
    `--egress-selector-config-file: failed to validate egress selector configuration: ${file}: ` +
      'service.connection.protocol: Unsupported value: "Socks"',
  );
});
