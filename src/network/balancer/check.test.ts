import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { readyzCheck } from "./check.ts";

const folder = mkdtempSync(join(tmpdir(), "k8ts-check-"));
afterAll(() => rmSync(folder, { recursive: true }));
const [keyFile, certFile] = [join(folder, "key"), join(folder, "cert")];
execFileSync(
  "openssl",
  ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"].concat([
    "-subj",
    "/CN=check",
    "-addext",
    "subjectAltName=IP:127.0.0.1",
    "-keyout",
    keyFile,
    "-out",
    certFile,
  ]),
  { stdio: "ignore" },
);
const [key, cert] = [readFileSync(keyFile), readFileSync(certFile, "utf8")];

const answering = (status: number | undefined) =>
  createTlsServer({ key, cert }, (_, response) => {
    if (status !== undefined) response.writeHead(status).end();
  });

describe("the check of an API server", () => {
  it.each([
    { name: "is ready", given: answering(200), want: "ready" },
    { name: "refuses to say", given: answering(401), want: "ready" },
    { name: "says that it is not ready", given: answering(500), want: "not ready" },
    { name: "greets, and waits for its store", given: answering(undefined), want: "not ready" },
    // As a process that stands still: the kernel takes the connection.
    { name: "does not greet", given: createServer(() => {}), want: "no answer" },
  ])("reports one that $name as $want", async ({ given, want }) => {
    given.listen(0, "127.0.0.1");
    await once(given, "listening");
    const { port } = given.address() as { port: number };
    const check = readyzCheck({ caPem: cert, clock: realClock() });
    try {
      expect(await check(`127.0.0.1:${port}`, new AbortController().signal)).toBe(want);
    } finally {
      given.close();
    }
  });
});
