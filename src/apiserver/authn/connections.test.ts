/** Credentials over real connections, by both versions of HTTP: what TLS and Node make of them is part of it. */
import { execFileSync } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as http2Connect } from "node:http2";
import { Agent, request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { connect as tlsConnect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { MetricsRegistry, realClock, silentLogger, systemRandom } from "#base";
import { type Authority, createAuthority, type KeyPair } from "#pki";
import { openMemoryStore } from "#store";
import { type ApiServer, startApiServer } from "../server.ts";

const clock = realClock();
const WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const dir = mkdtempSync(join(tmpdir(), "k8ts-authn-"));

let ca: Authority;
let stranger: Authority;
let proxies: Authority;
let server: ApiServer;
const pairs: Record<string, KeyPair> = {};

type Headers = readonly (readonly [string, string])[];

beforeAll(async () => {
  ca = await createAuthority({ commonName: "kubernetes", clock });
  stranger = await createAuthority({ commonName: "kubernetes", clock });
  proxies = await createAuthority({ commonName: "front-proxy-ca", clock });
  const serving = await ca.issue({ commonName: "s", ipAddresses: ["127.0.0.1"], usages: ["server"] });
  pairs.ann = await ca.issue({ commonName: "ann", organizations: ["dev"], usages: ["client"] });
  pairs.proxy = await proxies.issue({ commonName: "front-proxy-client", usages: ["client"] });
  pairs.otherProxy = await proxies.issue({ commonName: "ann", usages: ["client"] });
  pairs.stranger = await stranger.issue({ commonName: "ann", organizations: ["system:masters"], usages: ["client"] });
  const past = { ...clock, now: () => clock.now() - 10 * 86_400_000 };
  const earlier = await createAuthority({ commonName: "kubernetes", clock: past, key: createPrivateKey(ca.keyPem) });
  pairs.expired = await earlier.issue({
    commonName: "ann",
    organizations: ["system:masters"],
    usages: ["client"],
    validityDays: 1,
  });
  pairs.intermediate = viaIntermediate(ca);
  const store = openMemoryStore({ clock });
  server = await startApiServer({
    host: "127.0.0.1",
    port: 0,
    certificate: { ...serving, clientCaPem: ca.certPem },
    requestHeader: { ca: proxies.certPem, allowedNames: ["front-proxy-client"] },
    authentication: { tokens: new Map([["good", { name: "tom", groups: [] }]]) },
    store,
    sharedStore: false,
    clock,
    random: systemRandom(),
    log: silentLogger,
    metrics: new MetricsRegistry(),
  });
});

afterAll(async () => {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** A certificate by way of an authority in between, which the client sends along. */
function viaIntermediate(root: Authority): KeyPair {
  const at = (name: string) => join(dir, name);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: dir, stdio: "pipe" });
  writeFileSync(at("ca.crt"), root.certPem);
  writeFileSync(at("ca.key"), root.keyPem);
  writeFileSync(at("ca.ext"), "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign");
  writeFileSync(at("leaf.ext"), "extendedKeyUsage=clientAuth");
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl("req", "-new", ...key, "-keyout", "mid.key", "-out", "mid.csr", "-subj", "/CN=mid");
  openssl(
    "x509",
    "-req",
    "-in",
    "mid.csr",
    "-CA",
    "ca.crt",
    "-CAkey",
    "ca.key",
    "-days",
    "9",
    "-extfile",
    "ca.ext",
    "-out",
    "mid.crt",
  );
  writeFileSync(
    at("req.conf"),
    "oid_section=oids\n[oids]\nuserUid=1.3.6.1.4.1.57683.2\n[req]\ndistinguished_name=dn\n[dn]\n",
  );
  const subject = ["-config", "req.conf", "-subj", "/O=dev/CN=mia/userUid=u-mia"];
  openssl("req", "-new", ...key, "-keyout", "leaf.key", "-out", "leaf.csr", ...subject);
  openssl(
    "x509",
    "-req",
    "-in",
    "leaf.csr",
    "-CA",
    "mid.crt",
    "-CAkey",
    "mid.key",
    "-days",
    "9",
    "-extfile",
    "leaf.ext",
    "-out",
    "leaf.crt",
  );
  const read = (name: string) => readFileSync(at(name), "utf8");
  return { certPem: read("leaf.crt") + read("mid.crt"), keyPem: read("leaf.key") };
}

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

const tlsOf = (pair: KeyPair | undefined) => ({
  ca: ca.certPem,
  ...(pair !== undefined && { cert: pair.certPem, key: pair.keyPem }),
});

async function http1(pair: KeyPair | undefined, headers: Headers, agent = new Agent(tlsOf(pair))): Promise<Answer> {
  const { port } = server;
  const sent = [["Content-Type", "application/json"], ["Host", `127.0.0.1:${port}`], ...headers].flat();
  const outgoing = httpsRequest({ host: "127.0.0.1", port, method: "POST", path: WHO_AM_I, headers: sent, agent });
  outgoing.end("{}");
  const [response] = await once(outgoing, "response");
  const body = (await json(response)) as JsonObject;
  agent.destroy();
  return { status: response.statusCode, body };
}

/** HTTP/2 in bytes: Node's client sends no header twice that should be sent once. */
async function rawHttp2(headers: Headers): Promise<string> {
  const socket = tlsConnect({ host: "127.0.0.1", port: server.port, ca: ca.certPem, ALPNProtocols: ["h2"] });
  await once(socket, "secureConnect");
  const frame = (type: number, flags: number, stream: number, payload: Buffer) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head[3] = type;
    head[4] = flags;
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  };
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  const literal = ([name, value]: readonly [string, string]) =>
    Buffer.concat([Buffer.from([0]), text(name), text(value)]);
  const fields: Headers = [
    [":method", "POST"],
    [":path", WHO_AM_I],
    [":scheme", "https"],
    [":authority", "x"],
    ["content-type", "application/json"],
    ...headers,
  ];
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  socket.write(frame(4, 0, 0, Buffer.alloc(0)));
  socket.write(frame(1, 4, 1, Buffer.concat(fields.map(literal))));
  socket.write(frame(0, 1, 1, Buffer.from("{}")));
  let answer = "";
  for await (const chunk of socket) {
    answer += (chunk as Buffer).toString("latin1");
    if (/"(?:username|message)":"[^"]*"/.test(answer)) break;
  }
  socket.destroy();
  return /"(?:username|message)":"([^"]*)"/.exec(answer)?.[1] ?? "";
}

async function http2(pair: KeyPair | undefined, headers: Headers): Promise<Answer> {
  const session = http2Connect(`https://127.0.0.1:${server.port}`, tlsOf(pair));
  const sent: Record<string, string | string[]> = { "content-type": "application/json" };
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const before = sent[key];
    sent[key] = before === undefined ? value : [before, value].flat();
  }
  const stream = session.request({ ":method": "POST", ":path": WHO_AM_I, ...sent });
  stream.end("{}");
  const [head] = await once(stream, "response");
  const body = (await json(stream)) as JsonObject;
  session.close();
  return { status: head[":status"], body };
}

interface Who {
  readonly username: string;
  readonly groups?: readonly string[];
  readonly extra?: object;
  readonly uid?: string;
}

const whoIn = ({ body }: Answer) => (body.status as unknown as { userInfo: Who }).userInfo;

const REMOTE: Headers = [
  ["X-Remote-User", "eve"],
  ["X-Remote-Group", "system:masters"],
];

describe.each([
  { version: "HTTP/1.1", ask: http1 },
  { version: "HTTP/2", ask: http2 },
])("over $version", ({ ask }) => {
  it.each<{ name: string; pair?: string; headers?: Headers; want: Partial<Who> }>([
    { name: "a certificate", pair: "ann", want: { username: "ann", groups: ["dev", "system:authenticated"] } },
    {
      name: "a certificate by way of an authority in between, with a uid",
      pair: "intermediate",
      want: { username: "mia", uid: "u-mia", groups: ["dev", "system:authenticated"] },
    },
    { name: "a token", headers: [["Authorization", "Bearer good"]], want: { username: "tom" } },
    {
      name: "a certificate before a token",
      pair: "ann",
      headers: [["Authorization", "Bearer good"]],
      want: { username: "ann" },
    },
    {
      name: "a stranger's certificate with a good token",
      pair: "stranger",
      headers: [["Authorization", "Bearer good"]],
      want: { username: "tom", groups: ["system:authenticated"] },
    },
    {
      name: "the front proxy, each value for itself",
      pair: "proxy",
      headers: [
        ["X-Remote-User", "jane"],
        ["X-Remote-Uid", "u-1"],
        ["X-Remote-Group", "a, b"],
        ["X-Remote-Group", "c"],
        ["X-Remote-Extra-acme.com%2Fp", "1"],
        ["X-Remote-Extra-Acme.com%2Fp", "2"],
      ],
      want: {
        username: "jane",
        uid: "u-1",
        groups: ["a, b", "c", "system:authenticated"],
        extra: { "acme.com/p": ["1", "2"] },
      },
    },
    {
      name: "headers of a proxy from a client: nothing",
      pair: "ann",
      headers: REMOTE,
      want: { username: "ann", groups: ["dev", "system:authenticated"] },
    },
    {
      name: "headers of a proxy with a token: nothing",
      headers: [...REMOTE, ["Authorization", "Bearer good"]],
      want: { username: "tom", groups: ["system:authenticated"] },
    },
    {
      name: "headers in other letters: nothing",
      pair: "ann",
      headers: [["x-REMOTE-user", "eve"]],
      want: { username: "ann" },
    },
  ])("$name", async ({ pair, headers = [], want }) => {
    const answer = await ask(pair === undefined ? undefined : pairs[pair], headers);
    expect(answer.status).toBe(201);
    expect(whoIn(answer)).toMatchObject(want);
  });

  it.each<{ name: string; pair?: string; headers?: Headers }>([
    { name: "a stranger's certificate", pair: "stranger" },
    { name: "an expired certificate", pair: "expired" },
    { name: "a bad token", headers: [["Authorization", "Bearer bad"]] },
    { name: "the front proxy in nobody's name", pair: "proxy" },
    { name: "a proxy whose name is not allowed", pair: "otherProxy", headers: REMOTE },
    { name: "headers of a proxy with a stranger's certificate", pair: "stranger", headers: REMOTE },
  ])("$name: 401", async ({ pair, headers = [] }) => {
    expect(await ask(pair === undefined ? undefined : pairs[pair], headers)).toMatchObject({
      status: 401,
      body: { reason: "Unauthorized", message: "Unauthorized" },
    });
  });

  it("headers of a proxy alone make nobody anybody", async () => {
    const { status, body } = await ask(undefined, REMOTE);
    expect([status, body.message]).toEqual([403, expect.stringContaining('User "system:anonymous" cannot create')]);
  });
});

describe("two Authorization headers: the first counts", () => {
  const authorization = (...tokens: string[]): Headers => tokens.map((token) => ["authorization", `Bearer ${token}`]);
  it.each([
    { tokens: ["good", "bad"], want: "tom" },
    { tokens: ["bad", "good"], want: "Unauthorized" },
  ])("$tokens", async ({ tokens, want }) => {
    const { body, ...answer } = await http1(undefined, authorization(...tokens));
    expect(body.message ?? whoIn({ ...answer, body }).username).toBe(want);
    expect(await rawHttp2(authorization(...tokens))).toBe(want);
  });
});

describe("a token of a mebibyte", () => {
  const huge: Headers = [["authorization", `Bearer ${"x".repeat(1024 * 1024)}`]];
  it("is refused over HTTP/1.1 before anyone reads it", async () => {
    const socket = tlsConnect({ host: "127.0.0.1", port: server.port, ca: ca.certPem });
    socket.on("error", () => {});
    socket.write(`GET /version HTTP/1.1\r\nHost: x\r\n${huge.map((each) => each.join(": ")).join("\r\n")}\r\n\r\n`);
    const [first] = await once(socket, "data");
    socket.destroy();
    expect(first.toString()).toMatch(/^HTTP\/1\.1 431 /);
  });

  it("is refused over HTTP/2, and the server goes on", async () => {
    const session = http2Connect(`https://127.0.0.1:${server.port}`, tlsOf(undefined));
    session.on("error", () => {});
    const stream = session.request({ ":path": "/version", ...Object.fromEntries(huge) });
    const ended = await Promise.race([
      once(stream, "response").then(([head]) => head[":status"]),
      once(stream, "close").then(() => "closed"),
    ]).catch(() => "closed");
    session.destroy();
    expect(["closed", 401, 431]).toContain(ended);
    expect(whoIn(await http2(undefined, [["Authorization", "Bearer good"]]))).toMatchObject({ username: "tom" });
  });
});

describe("a TLS session that goes on in a second connection", () => {
  it.each(["ann", "intermediate"])("shows the same certificate: %s", async (pair) => {
    const agent = new Agent({ ...tlsOf(pairs[pair]), keepAlive: false });
    const first = whoIn(await http1(undefined, [], agent));
    expect(whoIn(await http1(undefined, [], agent))).toEqual(first);
  });
});

describe("a client's authorities", () => {
  it("are told to clients during the handshake, those of front proxies too", async () => {
    const socket = tlsConnect({ host: "127.0.0.1", port: server.port, ca: ca.certPem });
    await once(socket, "secureConnect");
    socket.destroy();
    // Clients in Go choose a certificate by this list; that they do choose one is seen above.
    expect(socket.authorized).toBe(true);
  });

  it("may change while connections are open", async () => {
    const serving = await ca.issue({ commonName: "s", ipAddresses: ["127.0.0.1"], usages: ["server"] });
    const session = http2Connect(`https://127.0.0.1:${server.port}`, tlsOf(pairs.ann));
    const status = async () => {
      const stream = session.request({ ":method": "GET", ":path": "/version" });
      const [head] = await once(stream, "response");
      stream.resume();
      return head[":status"];
    };
    expect(await status()).toBe(200);
    server.renewCertificate({ ...serving, clientCaPem: stranger.certPem });
    expect(await status()).toBe(401);
    expect(whoIn(await http2(pairs.stranger, []))).toMatchObject({ username: "ann" });
    server.renewCertificate({ ...serving, clientCaPem: ca.certPem });
    expect(await status()).toBe(200);
    session.close();
  });
});
