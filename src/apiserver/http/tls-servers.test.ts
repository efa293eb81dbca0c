/** TLS of the port, over loopback: which certificate is shown, and which clients are refused. */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { createServer } from "node:net";
import { type ConnectionOptions, connect } from "node:tls";
import { afterAll, describe, expect, it } from "vitest";
import { realClock, silentLogger } from "#base";
import { createAuthority } from "#pki";
import type { Http2Stream } from "../http2/index.ts";
import { type ConnectionSettings, type Listener, listen } from "./listener.ts";
import type { NamedCertificate, ServingCertificate } from "./tls-servers.ts";

const clock = realClock();
const authority = await createAuthority({ commonName: "test", clock });
const issue = (commonName: string, dnsNames: readonly string[] = [commonName]) =>
  authority.issue({ commonName, dnsNames, ipAddresses: ["127.0.0.1"], usages: ["server"] });
const named = async (commonName: string, dnsNames: readonly string[], names: readonly string[]) =>
  ({ ...(await issue(commonName, dnsNames)), names }) satisfies NamedCertificate;

const own = await issue("default.test");
const certificates: readonly NamedCertificate[] = [
  await named("extracted.test", ["extracted.test", "*.wild.test"], []),
  await named("explicit.test", ["extracted.test", "a.wild.test"], ["extracted.test", "*.deep.test"]),
  await named("later.test", ["later.test"], ["*.deep.test", "b.wild.test"]),
  await named("address.test", ["address.test"], ["127.0.0.2"]),
];
const open: Listener[] = [];
afterAll(() => Promise.all(open.map((each) => each.close(0))));

const handlers = {
  http1: (_: unknown, response: { end(text: string): void }) => response.end("here"),
  http2: (stream: Http2Stream) => {
    stream.respond(200, {});
    stream.end();
  },
  upgrade: () => {},
};

async function serve(
  connections: ConnectionSettings = {},
  certificate: Partial<ServingCertificate> = {},
  host = "127.0.0.1",
) {
  const listener = await listen({
    host,
    port: 0,
    certificate: { ...own, clientCaPem: "", ...certificate },
    connections,
    handlers: handlers as never,
    clock,
    log: silentLogger,
  });
  open.push(listener);
  return listener;
}

/** The common name of the certificate that the server shows, and what was negotiated. */
async function shake(port: number, options: ConnectionOptions = {}) {
  const socket = connect({
    host: "127.0.0.1",
    port,
    rejectUnauthorized: false,
    ALPNProtocols: ["h2", "http/1.1"],
    ...options,
  });
  try {
    await once(socket, "secureConnect");
    return {
      name: /CN=(\S+)/.exec(socket.getPeerX509Certificate()?.subject ?? "")?.[1],
      version: socket.getProtocol(),
      cipher: socket.getCipher().name,
      alpn: socket.alpnProtocol,
    };
  } finally {
    socket.destroy();
  }
}

describe("the certificate for a name", async () => {
  const { port } = await serve({}, { named: certificates }, "0.0.0.0");

  it.each([
    { asked: "", want: "default.test", why: "no name" },
    { asked: "unknown.test", want: "default.test", why: "a name that none has" },
    { asked: "extracted.test", want: "explicit.test", why: "explicit before extracted" },
    { asked: "EXTRACTED.test", want: "explicit.test", why: "in any case" },
    { asked: "c.wild.test", want: "extracted.test", why: "a wildcard in the certificate" },
    { asked: "b.wild.test", want: "later.test", why: "a whole name before a wildcard" },
    { asked: "x.deep.test", want: "explicit.test", why: "the earlier of two" },
    { asked: "x.y.deep.test", want: "default.test", why: "a wildcard is one label" },
    { asked: "address.test", want: "default.test", why: "names in the certificate do not count beside explicit ones" },
  ])("$why: $asked", async ({ asked, want }) => {
    expect((await shake(port, { servername: asked })).name).toBe(want);
  });

  it("is that of the address for clients that ask for no name", async () => {
    expect((await shake(port, { host: "127.0.0.2", servername: "" })).name).toBe("address.test");
    expect((await shake(port, { host: "127.0.0.2", servername: "later.test" })).name).toBe("default.test");
  });
});

it("renewed certificates apply to new connections, unusable ones do not", async () => {
  const { port, renew } = await serve({}, { named: certificates.slice(0, 1) });
  const fresh = await named("fresh.test", ["extracted.test"], []);
  renew({ ...own, clientCaPem: "", named: [fresh] });
  expect((await shake(port, { servername: "extracted.test" })).name).toBe("fresh.test");
  const other = await issue("other.test");
  const mixed = { ...fresh, keyPem: other.keyPem };
  expect(() => renew({ ...other, clientCaPem: "", named: [mixed] })).toThrow("key values mismatch");
  expect((await shake(port, { servername: "extracted.test" })).name).toBe("fresh.test");
  expect((await shake(port)).name).toBe("default.test");
});

const SUITE = "ECDHE-ECDSA-AES128-GCM-SHA256";
const OTHER_SUITE = "ECDHE-ECDSA-AES256-GCM-SHA384";
const upTo12: ConnectionOptions = { maxVersion: "TLSv1.2" };
const old: ConnectionOptions = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT:@SECLEVEL=0" };

describe("versions, ciphers and key exchanges", () => {
  const accepted: readonly { given: ConnectionSettings; client: ConnectionOptions; want: object }[] = [
    { given: {}, client: {}, want: { version: "TLSv1.3", alpn: "h2" } },
    { given: {}, client: upTo12, want: { version: "TLSv1.2" } },
    { given: { tls: { minVersion: "TLSv1" } }, client: old, want: { version: "TLSv1.1" } },
    { given: { tls: { minVersion: "TLSv1.3" } }, client: {}, want: { version: "TLSv1.3" } },
    { given: { tls: { ciphers: `TLS_AES_128_GCM_SHA256:${SUITE}` } }, client: upTo12, want: { cipher: SUITE } },
    { given: { tls: { groups: "P-384" } }, client: { ecdhCurve: "P-384" }, want: { version: "TLSv1.3" } },
    { given: { http2: { disabled: true } }, client: {}, want: { alpn: "http/1.1" } },
  ];
  it.each(accepted)("$given, $client: $want", async ({ given, client, want }) => {
    const { port } = await serve(given);
    expect(await shake(port, client)).toMatchObject(want);
  });

  const refused: readonly { given: ConnectionSettings; client: ConnectionOptions }[] = [
    { given: {}, client: old },
    // A suite that Node offers by default and Go does not.
    { given: {}, client: { ...upTo12, ciphers: "ECDHE-ECDSA-AES128-SHA256" } },
    { given: { tls: { minVersion: "TLSv1.3" } }, client: upTo12 },
    { given: { tls: { ciphers: `TLS_AES_128_GCM_SHA256:${SUITE}` } }, client: { ...upTo12, ciphers: OTHER_SUITE } },
    { given: { tls: { groups: "P-384" } }, client: { ecdhCurve: "X25519" } },
  ];
  it.each(refused)("$given, $client: refused", async ({ given, client }) => {
    const { port } = await serve(given);
    await expect(shake(port, client)).rejects.toThrow();
  });
});

it("two servers share a port only where both permit it", async () => {
  const { port } = await serve({ sharedPort: true });
  const again = (sharedPort: boolean) =>
    new Promise<string>((resolve) => {
      const server = createServer();
      server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
      server.listen({ host: "127.0.0.1", port, reusePort: sharedPort }, () => server.close(() => resolve("shared")));
    });
  expect([await again(true), await again(false)]).toEqual(["shared", "EADDRINUSE"]);
});

it("clients are asked to connect anew, and told how many requests they may send", async () => {
  let asked = 0;
  const { port } = await serve({ http2: { maxStreams: 7, goesAway: () => ++asked === 2 } });
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  const [settings] = await once(session, "remoteSettings");
  expect(settings.maxConcurrentStreams).toBe(7);
  const get = () => once(session.request({ ":path": "/" }), "response");
  await get();
  const gone = once(session, "goaway");
  await get();
  expect((await gone).slice(0, 2)).toEqual([0, 2 ** 31 - 1]);
  expect(asked).toBe(2);
  session.destroy();
});
