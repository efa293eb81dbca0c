/** Requests on connections that somebody else opens. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createAuthority } from "#pki";
import { realClock } from "../system/real-clock.ts";
import type { Dial } from "./dial.ts";
import { HttpClient, type HttpClientOptions, httpFailureText } from "./http-client.ts";

const undo: (() => void)[] = [];
afterEach(() => {
  for (const each of undo.splice(0)) each();
});

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  undo.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Leads everywhere to the port. */
function dialTo(port: number) {
  const asked: string[] = [];
  const dial: Dial = async ({ host, port: wanted }) => {
    asked.push(`${host}:${wanted}`);
    const socket = connect({ host: "127.0.0.1", port });
    await once(socket, "connect");
    return socket;
  };
  return { asked, dial };
}

function client(options: Partial<HttpClientOptions>): HttpClient {
  const made = new HttpClient({ clock: realClock(), timeoutMs: 5_000, maxResponseBytes: 1000, ...options });
  undo.push(() => made.close());
  return made;
}

it("carries http, on a connection that is kept", async () => {
  const { asked, dial } = dialTo(await listening(createServer((_, response) => void response.end("hello"))));
  const http = client({ dial });
  for (let i = 0; i < 3; i++) {
    const result = await http.send({ url: "http://far.test:81/" });
    expect(result.ok && result.body.toString()).toBe("hello");
  }
  expect(asked).toEqual(["far.test:81"]);
});

it("carries https: the certificate is verified for the name in the URL", async () => {
  const ca = await createAuthority({ commonName: "ca", clock: realClock() });
  const { certPem: cert, keyPem: key } = await ca.issue({
    commonName: "s",
    usages: ["server"],
    dnsNames: ["far.test"],
  });
  const port = await listening(createSecureServer({ cert, key }, (_, response) => void response.end("secret")));
  const { asked, dial } = dialTo(port);
  const http = client({ dial, tls: { ca: ca.certPem } });
  const answers = await Promise.all(["far", "near"].map((name) => http.send({ url: `https://${name}.test/` })));
  expect(answers.map((each) => (each.ok ? each.body.toString() : httpFailureText(each)))).toEqual([
    "secret",
    "tls: failed to verify certificate: x509: certificate is valid for far.test, not near.test",
  ]);
  expect(asked).toEqual(["far.test:443", "near.test:443"]);
});

it("fails in the words of the dial", async () => {
  const http = client({ dial: () => Promise.reject(new Error("proxy error from P")) });
  for (const url of ["http://far.test/", "https://far.test/"]) {
    const result = await http.send({ url });
    expect(!result.ok && httpFailureText(result)).toBe("proxy error from P");
  }
});
