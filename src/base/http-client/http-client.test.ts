import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Authority, createAuthority } from "#pki";
import { realClock } from "../system/real-clock.ts";
import { VirtualClock } from "../system/virtual-clock.ts";
import { HttpClient, type HttpClientOptions, httpFailureText } from "./http-client.ts";
import { networkErrorText } from "./network-error.ts";

const undo: (() => void)[] = [];
afterEach(() => {
  for (const each of undo.splice(0).reverse()) each();
});

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  undo.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const plain = (listener: RequestListener) => listening(createServer(listener));
const secure = (options: ServerOptions, listener: RequestListener) => listening(createTlsServer(options, listener));

function client(options: Partial<HttpClientOptions> = {}): HttpClient {
  const made = new HttpClient({ clock: realClock(), timeoutMs: 10_000, maxResponseBytes: 1000, ...options });
  undo.push(() => made.close());
  return made;
}

const echo = async (request: IncomingMessage, response: ServerResponse) => {
  const { method, url, headers } = request;
  const { connection, ...rest } = headers;
  response
    .writeHead(207, { "x-a": "b" })
    .end(JSON.stringify({ method, url, headers: rest, body: await text(request) }));
};

describe("a request", () => {
  it("sends method, path, headers and body, and answers with whatever the server says", async () => {
    const port = await plain(echo);
    const url = `http://127.0.0.1:${port}/a/b?c=d`;
    const post = await client().send({ url, headers: { "x-y": "z" }, body: Buffer.from("hello") });
    expect(post).toMatchObject({ ok: true, status: 207, headers: { "x-a": "b" } });
    expect(post.ok && JSON.parse(post.body.toString())).toEqual({
      method: "POST",
      url: "/a/b?c=d",
      headers: { host: `127.0.0.1:${port}`, "x-y": "z", "content-length": "5" },
      body: "hello",
    });
    const get = await client().send({ url });
    expect(get.ok && JSON.parse(get.body.toString())).toMatchObject({ method: "GET", body: "" });
    const head = await client().send({ url, method: "HEAD" });
    expect(head).toMatchObject({ status: 207, body: Buffer.alloc(0) });
  });

  it("goes to another address than that of its URL", async () => {
    const port = await plain(echo);
    const url = "http://web.default.svc:8080/x";
    const result = await client().send({ url, address: { host: "127.0.0.1", port } });
    expect(result.ok && JSON.parse(result.body.toString())).toMatchObject({
      headers: { host: "web.default.svc:8080" },
    });
    const other = await client().send({ url, address: { host: "127.0.0.1", port }, headers: { host: "me" } });
    expect(other.ok && JSON.parse(other.body.toString())).toMatchObject({ headers: { host: "me" } });
  });

  it.each(["ftp://a/", "nonsense"])("cannot go to %s", async (url) => {
    await expect(client().send({ url })).rejects.toBeInstanceOf(TypeError);
  });
});

describe("connections", () => {
  it("are kept, and closed with the client", async () => {
    let [opened, open] = [0, 0];
    const server = createServer((_, response) => void response.end());
    server.on("connection", (socket) => {
      opened++;
      open++;
      socket.once("close", () => open--);
    });
    const url = `http://127.0.0.1:${await listening(server)}/`;
    const http = client();
    for (let i = 0; i < 3; i++) await http.send({ url });
    expect([opened, open]).toEqual([1, 1]);
    http.close();
    await expect.poll(() => open).toBe(0);
  });

  it("are no more than the limit: further requests wait", async () => {
    const answers: ServerResponse[] = [];
    const port = await plain((_, response) => void answers.push(response));
    const http = client({ maxConnections: 2 });
    const all = Array.from({ length: 6 }, () => http.send({ url: `http://127.0.0.1:${port}/` }));
    for (const arrived of [2, 4, 6]) {
      await expect.poll(() => answers.length).toBe(arrived);
      for (const answer of answers.slice(arrived - 2)) answer.end();
    }
    expect((await Promise.all(all)).every(({ ok }) => ok)).toBe(true);
  });

  it("that were closed while idle are replaced: the request is sent again", async () => {
    let calls = 0;
    // The second request on a connection is not answered: the connection ends.
    const port = await plain((request, response) => {
      calls++;
      const { socket } = request;
      if (Reflect.get(socket, "used")) socket.destroy();
      else response.end(String(calls));
      Reflect.set(socket, "used", true);
    });
    const http = client();
    const url = `http://127.0.0.1:${port}/`;
    const results = [await http.send({ url }), await http.send({ url, body: Buffer.from("x") })];
    expect(results.map((each) => each.ok && each.body.toString())).toEqual(["1", "3"]);
  });

  it("that break on their first request are a failure", async () => {
    let calls = 0;
    const port = await plain((request) => {
      calls++;
      request.socket.destroy();
    });
    const result = await client().send({ url: `http://127.0.0.1:${port}/` });
    expect([result, calls]).toEqual([
      { ok: false, reason: "connection", cause: expect.any(Error), address: { host: "127.0.0.1", port } },
      1,
    ]);
  });

  it("close at once, or when no request is under way", async () => {
    const answers: ServerResponse[] = [];
    const port = await plain((_, response) => void answers.push(response));
    const url = `http://127.0.0.1:${port}/`;
    const [cut, patient] = [client(), client()];
    const [first, second] = [cut.send({ url }), patient.send({ url })];
    await expect.poll(() => answers.length).toBe(2);
    cut.close();
    patient.closeWhenIdle();
    expect(await first).toMatchObject({ ok: false, reason: "connection" });
    for (const answer of answers) answer.end("late");
    expect(await second).toMatchObject({ ok: true, body: Buffer.from("late") });
  });
});

describe("a request ends", () => {
  const silent = () => plain(() => {});
  const halfway = () => plain((_, response) => void response.write("half"));

  it.each([
    ["before the headers", silent],
    ["within the body", halfway],
  ])("with its deadline, %s", async (_, server) => {
    const clock = new VirtualClock();
    const url = `http://127.0.0.1:${await server()}/`;
    const result = client({ clock }).send({ url, timeoutMs: 3000 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await clock.advance(3000);
    expect(await result).toMatchObject({ ok: false, reason: "deadline" });
  });

  it("with its signal", async () => {
    const ending = new AbortController();
    const url = `http://127.0.0.1:${await silent()}/`;
    const result = client().send({ url, signal: ending.signal });
    ending.abort("enough");
    expect(await result).toMatchObject({ ok: false, reason: "aborted", cause: "enough" });
    expect(await client().send({ url, signal: ending.signal })).toMatchObject({ reason: "aborted" });
  });

  it.each([
    { longer: "fail", bytes: 1000, want: { ok: true } },
    { longer: "fail", bytes: 1001, want: { ok: false, reason: "too-large" } },
    { longer: "cut", bytes: 1001, want: { ok: true, body: Buffer.alloc(1000, "x") } },
  ] as const)("when the body has $bytes bytes, of 1000: $longer", async ({ longer, bytes, want }) => {
    const port = await plain((_, response) => {
      for (let at = 0; at < bytes; at += 300) response.write("x".repeat(Math.min(300, bytes - at)));
      response.end();
    });
    expect(await client({ longer }).send({ url: `http://127.0.0.1:${port}/` })).toMatchObject(want);
  });

  it("when the connection breaks within the body, and is not sent again", async () => {
    let calls = 0;
    const port = await plain((_, response) => {
      if (++calls === 1) response.end();
      else response.write("half", () => response.destroy());
    });
    const http = client();
    const url = `http://127.0.0.1:${port}/`;
    await http.send({ url });
    expect([await http.send({ url }), calls]).toMatchObject([{ ok: false, reason: "connection" }, 2]);
  });
});

describe("over TLS", () => {
  let ca: Authority;
  let other: Authority;
  beforeAll(async () => {
    const clock = realClock();
    [ca, other] = await Promise.all([
      createAuthority({ commonName: "ours", clock }),
      createAuthority({ commonName: "theirs", clock }),
    ]);
  });

  async function server(names: { readonly dnsNames?: string[]; readonly ipAddresses?: string[] }, needsClient = false) {
    const { certPem: cert, keyPem: key } = await ca.issue({ commonName: "s", usages: ["server"], ...names });
    const options = { cert, key, ca: ca.certPem, requestCert: needsClient, rejectUnauthorized: needsClient };
    return secure(options, (request, response) => {
      const socket = request.socket as TLSSocket & { servername?: string | false };
      const { subject } = socket.getPeerCertificate() as { subject?: { CN: string } };
      response.end(`${socket.servername || "-"} ${subject?.CN ?? "-"}`);
    });
  }

  const asked = async (port: number, host: string, tls: HttpClientOptions["tls"]) => {
    const result = await client({ tls }).send({
      url: `https://${host}:${port}/`,
      address: { host: "127.0.0.1", port },
    });
    return result.ok ? result.body.toString() : httpFailureText(result).replace(String(port), "PORT");
  };

  it("the server's certificate is for the URL's host, or the name that is given", async () => {
    const port = await server({ dnsNames: ["web.default.svc"], ipAddresses: ["127.0.0.1"] });
    const trust = { ca: ca.certPem };
    expect(await asked(port, "web.default.svc", trust)).toBe("web.default.svc -");
    expect(await asked(port, "127.0.0.1", trust)).toBe("- -");
    expect(await asked(port, "else", { ...trust, serverName: "web.default.svc" })).toBe("web.default.svc -");
    expect(await asked(port, "else", { insecure: true })).toBe("else -");
  });

  it("the client shows its certificate", async () => {
    const port = await server({ dnsNames: ["web"] }, true);
    const { certPem: cert, keyPem: key } = await ca.issue({ commonName: "me", usages: ["client"] });
    expect(await asked(port, "web", { ca: ca.certPem, cert, key })).toBe("web me");
    const stranger = await other.issue({ commonName: "me", usages: ["client"] });
    const tls = { ca: ca.certPem, cert: stranger.certPem, key: stranger.keyPem };
    expect(await asked(port, "web", tls)).toMatch(/^remote error: tls: |^dial tcp 127.0.0.1:PORT: connection reset/);
  });

  const VERIFY = "tls: failed to verify certificate: x509:";
  it.each([
    {
      name: "another authority's",
      names: { dnsNames: ["web"] },
      host: "web",
      trusts: "other",
      want: `${VERIFY} certificate signed by unknown authority`,
    },
    {
      name: "another name's",
      names: { dnsNames: ["a", "b"], ipAddresses: ["10.0.0.1"] },
      host: "web",
      want: `${VERIFY} certificate is valid for a, b, not web`,
    },
    {
      name: "an address's",
      names: { ipAddresses: ["10.0.0.1"] },
      host: "web",
      want: `${VERIFY} certificate is not valid for any names, but wanted to match web`,
    },
    {
      name: "another address's",
      names: { dnsNames: ["web"], ipAddresses: ["10.0.0.1"] },
      host: "127.0.0.1",
      want: `${VERIFY} certificate is valid for 10.0.0.1, not 127.0.0.1`,
    },
    {
      name: "a name's, for an address",
      names: { dnsNames: ["web"] },
      host: "127.0.0.1",
      want: `${VERIFY} cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs`,
    },
  ])("a certificate is refused: $name", async ({ names, host, trusts, want }) => {
    const port = await server(names);
    expect(await asked(port, host, { ca: (trusts === "other" ? other : ca).certPem })).toBe(want);
  });

  it("a server that does not speak TLS", async () => {
    const tcp = createTcpServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    tcp.listen(0, "127.0.0.1");
    await once(tcp, "listening");
    undo.push(() => tcp.close());
    expect(await asked((tcp.address() as AddressInfo).port, "web", {})).toMatch(/^tls: .*|connection reset by peer$/);
  });
});

describe("errors in Go's words", () => {
  const address = { host: "::1", port: 443 };
  it.each([
    ["ECONNREFUSED", "dial tcp [::1]:443: connect: connection refused"],
    ["EHOSTUNREACH", "dial tcp [::1]:443: connect: no route to host"],
    ["ENETUNREACH", "dial tcp [::1]:443: connect: network is unreachable"],
    ["ETIMEDOUT", "dial tcp [::1]:443: i/o timeout"],
    ["ECONNRESET", "dial tcp [::1]:443: connection reset by peer"],
    ["ENOTFOUND", "dial tcp: lookup ::1: no such host"],
    ["CERT_HAS_EXPIRED", "tls: failed to verify certificate: x509: certificate has expired or is not yet valid"],
    ["ERR_SSL_X", "tls: what Node says"],
    ["ELSE", "what Node says"],
  ])("%s", (code, want) => {
    expect(networkErrorText(Object.assign(new Error("what Node says"), { code }), address)).toBe(want);
  });

  it.each([
    ["deadline", "context deadline exceeded"],
    ["aborted", "context canceled"],
    ["too-large", "http: response body too large"],
    ["connection", "what Node says"],
  ] as const)("%s", (reason, want) => {
    expect(httpFailureText({ ok: false, reason, cause: new Error("what Node says"), address })).toBe(want);
  });
});
