/** TLS to endpoints on loopback: who is trusted, under which name, and what happens where nobody is. */
import { once } from "node:events";
import { createSecureServer } from "node:http2";
import { createServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { afterEach, beforeAll, expect, it } from "vitest";
import { realClock } from "#base";
import { type Authority, createAuthority } from "#pki";
import type { BackendTls } from "./backend-tls.ts";
import { Connections } from "./connections.ts";

let authority: Authority;
let stranger: Authority;
const servers: Server[] = [];
const connections = new Connections({ connectMs: 2000, answerMs: 5000 }, realClock());

beforeAll(async () => {
  authority = await createAuthority({ commonName: "ours", clock: realClock() });
  stranger = await createAuthority({ commonName: "theirs", clock: realClock() });
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    const closed = once(server, "close");
    server.close();
    if ("closeAllConnections" in server) (server.closeAllConnections as () => void)();
    await closed;
  }
  connections.close();
});

async function endpoint(by: Authority, names: readonly string[], http2 = false): Promise<number> {
  const { certPem: cert, keyPem: key } = await by.issue({
    ...{ commonName: "endpoint", dnsNames: [...names], usages: ["server"] },
  });
  const server = http2
    ? createSecureServer({ cert, key }, (request, response) => response.end(`h2 ${request.authority}`))
    : createServer({ cert, key }, (request, response) => response.end(`h1 ${request.headers.host}`));
  servers.push(server as Server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const tls = (more: Partial<BackendTls> = {}): BackendTls => ({
  ...{ id: JSON.stringify(more), serverName: "web.example", ca: authority.certPem, names: [] },
  ...more,
});

async function ask(port: number, policy: BackendTls, http2 = false): Promise<string> {
  const attempt = await connections.send(
    { address: "127.0.0.1", port, isLocal: true },
    { method: "GET", path: "/", headers: { host: "front.example" }, body: undefined, http2, tls: policy },
    new AbortController().signal,
  );
  if (attempt.kind !== "answered") return attempt.kind;
  let text = "";
  for await (const chunk of attempt.answer) text += String(chunk);
  return text;
}

it("asks an endpoint that shows the policy's name, by HTTP/1.1 and HTTP/2", async () => {
  expect(await ask(await endpoint(authority, ["web.example"]), tls())).toBe("h1 front.example");
  expect(await ask(await endpoint(authority, ["web.example"], true), tls(), true)).toBe("h2 front.example");
});

it.each([
  ["another name", ["other.example"], {}, "unreached"],
  ["another name that the policy allows", ["other.example"], { names: ["DNS:other.example"] }, "h1 front.example"],
  ["the policy's own name, where it asks for another one", ["web.example"], { names: ["DNS:x.example"] }, "unreached"],
  ["a URI that is not there", ["web.example"], { names: ["URI:spiffe://a/b"] }, "unreached"],
] as const)("an endpoint with %s", async (_, names, more, want) => {
  expect(await ask(await endpoint(authority, names), tls(more))).toBe(want);
});

it("does not ask an endpoint of another authority, nor reuse what another policy trusted", async () => {
  const theirs = await endpoint(stranger, ["web.example"]);
  expect(await ask(theirs, tls())).toBe("unreached");
  expect(await ask(theirs, tls({ ca: stranger.certPem }))).toBe("h1 front.example");
  expect(await ask(theirs, tls())).toBe("unreached");
});
