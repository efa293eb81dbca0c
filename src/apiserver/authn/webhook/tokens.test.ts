import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { realClock, seededRandom, settled, silentLogger, VirtualClock } from "#base";
import { type Authority, createAuthority, type KeyPair } from "#pki";
import { cached } from "../token-cache.ts";
import { type WebhookConnection, type WebhookTokens, webhookTokens } from "./tokens.ts";

interface Asked {
  readonly path: string | undefined;
  readonly review: { apiVersion: string; kind: string; spec: object };
  readonly client: string | undefined;
  readonly authorization: string | undefined;
}

const asked: Asked[] = [];
/** What the server answers, one after the other; the last one stays. */
let answers: (object | number | "cut")[] = [];
let authority: Authority;
let client: KeyPair;
let server: Server;
const open: WebhookTokens[] = [];

beforeAll(async () => {
  const clock = realClock();
  authority = await createAuthority({ commonName: "webhook", clock });
  client = await authority.issue({ commonName: "kube-apiserver", usages: ["client"] });
  const pair = await authority.issue({ commonName: "webhook", ipAddresses: ["127.0.0.1"], usages: ["server"] });
  const tls = {
    cert: pair.certPem,
    key: pair.keyPem,
    ca: authority.certPem,
    requestCert: true,
    rejectUnauthorized: false,
  };
  server = createServer(tls, async (incoming, response) => {
    const { authorization } = incoming.headers;
    const subject = (incoming.socket as TLSSocket).getPeerCertificate().subject as { CN?: string } | undefined;
    const review = (await json(incoming)) as Asked["review"];
    asked.push({ path: incoming.url, review, client: subject?.CN, authorization });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer === "cut") incoming.socket.destroy();
    else if (typeof answer === "number") response.writeHead(answer).end("no");
    else response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  asked.length = 0;
  for (const tokens of open.splice(0)) tokens.close();
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

function world(change: Partial<WebhookConnection> = {}, version: "v1" | "v1beta1" = "v1") {
  const clock = new VirtualClock();
  const connection = {
    server: `https://127.0.0.1:${(server.address() as AddressInfo).port}/authenticate`,
    caPem: authority.certPem,
    client,
    tlsServerName: undefined,
    insecureSkipTlsVerify: false,
    ...change,
  };
  const options = { connection, version, audiences: ["api"], clock, random: seededRandom(1), log: silentLogger };
  const tokens = webhookTokens(options);
  open.push(tokens);
  return { clock, tokens, ask: (audiences: readonly string[] = ["api"]) => tokens.authenticate("t0ken", audiences) };
}

const review = (status: object) => ({ apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", status });
const jane = { username: "jane", uid: "u-1", groups: ["dev"], extra: { "acme.com/p": ["a"] } };

describe("a webhook that knows tokens", () => {
  it("is sent a review, by a certificate, to the path of its URL", async () => {
    answers = [review({ authenticated: true, user: jane })];
    expect(await world().ask()).toEqual({
      user: { name: "jane", uid: "u-1", groups: ["dev"], extra: { "acme.com/p": ["a"] } },
      audiences: ["api"],
    });
    expect(asked).toEqual([
      {
        path: "/authenticate",
        client: "kube-apiserver",
        authorization: undefined,
        review: {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenReview",
          metadata: {},
          spec: { token: "t0ken", audiences: ["api"] },
        },
      },
    ]);
  });

  it("may be asked by a token, in an older version", async () => {
    answers = [review({ authenticated: true, user: jane })];
    await world({ client: { token: "mine" } }, "v1beta1").ask();
    expect(asked).toMatchObject([
      { authorization: "Bearer mine", review: { apiVersion: "authentication.k8s.io/v1beta1" } },
    ]);
  });

  it.each<{ name: string; status: object; audiences?: string[]; want: object | undefined }>([
    { name: "nobody's", status: { authenticated: false }, want: undefined },
    { name: "nobody's, with a reason", status: { error: "expired" }, want: { refused: ["expired"] } },
    {
      name: "for other audiences than asked for",
      status: { authenticated: true, user: jane, audiences: ["x"] },
      want: undefined,
    },
    {
      name: "for some of the audiences asked for",
      status: { authenticated: true, user: jane, audiences: ["x", "y"] },
      audiences: ["y", "z"],
      want: { user: { name: "jane" }, audiences: ["y"] },
    },
    {
      name: "for the API server's, if it does not say; others were asked for",
      status: { authenticated: true, user: jane },
      audiences: ["z"],
      want: undefined,
    },
  ])("says: $name", async ({ status, audiences, want }) => {
    answers = [review(status)];
    const verdict = await world().ask(audiences);
    if (want === undefined) expect(verdict).toBeUndefined();
    else expect(verdict).toMatchObject(want);
  });

  it("is asked again when it fails for a moment", async () => {
    answers = [500, "cut", 429, review({ authenticated: true, user: jane })];
    const { clock, ask } = world();
    const verdict = ask();
    const done = verdict.then(() => true);
    while (!(await Promise.race([done, settled().then(() => false)]))) {
      if (clock.pending > 0 && asked.length < 4) await clock.advance(2_000);
    }
    expect(await verdict).toMatchObject({ user: { name: "jane" } });
    expect(asked).toHaveLength(4);
  });

  it.each<{ name: string; answer: object | number; change?: Partial<WebhookConnection>; want: RegExp }>([
    { name: "it refuses", answer: 403, want: /answers with 403/ },
    { name: "it answers something else", answer: { kind: "Status" }, want: /no TokenReview/ },
    { name: "another authority vouches for it", answer: review({}), change: { caPem: undefined }, want: /certificate/ },
    { name: "it is not there", answer: review({}), change: { server: "https://127.0.0.1:1/" }, want: /ECONNREFUSED/ },
    {
      name: "it speaks without TLS",
      answer: review({}),
      change: { server: "http://127.0.0.1/" },
      want: /not an https URL/,
    },
  ])("knows nothing when $name", async ({ answer, change, want }) => {
    answers = [answer];
    expect(await world(change).ask()).toEqual({ refused: [expect.stringMatching(want)] });
  });

  it("that does not answer is not waited for longer than half a minute", async () => {
    const silent = createServer({ cert: client.certPem, key: client.keyPem }, () => {});
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const { clock, ask } = world({ server: `https://127.0.0.1:${port}/`, insecureSkipTlsVerify: true });
    const verdict = ask();
    await once(silent, "request");
    await clock.advance(30_000);
    expect(await verdict).toEqual({ refused: [expect.stringContaining("no answer from")] });
    silent.closeAllConnections();
    silent.close();
  });

  it("is asked once in a while for a token", async () => {
    answers = [review({ authenticated: true, user: jane })];
    const { clock, tokens } = world();
    const authenticate = cached(tokens.authenticate, { clock, successMs: 120_000, failureMs: 120_000 });
    for (let i = 0; i < 3; i++) await authenticate("t", ["api"]);
    expect(asked).toHaveLength(1);
    await clock.advance(120_000);
    await authenticate("t", ["api"]);
    expect(asked).toHaveLength(2);
  });
});
