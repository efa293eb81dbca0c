import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:https";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { type Authority, createAuthority } from "#pki";
import { caHash } from "./ca-hash.ts";
import { discoverCluster, isSigned } from "./discovery.ts";

const clock = realClock();
const TOKEN = "abcdef.0123456789abcdef";
const sign = (content: string, secret: string, alg = "HS256") => {
  const header = Buffer.from(JSON.stringify({ alg, kid: "abcdef" })).toString("base64url");
  const payload = Buffer.from(content).toString("base64url");
  return `${header}..${createHmac("sha256", secret).update(`${header}.${payload}`).digest("base64url")}`;
};

describe("the signature of cluster-info", () => {
  it.each([
    { name: "by the token", signature: sign("content", "secret"), want: true },
    { name: "by another", signature: sign("content", "other"), want: false },
    { name: "of another content", signature: sign("contents", "secret"), want: false },
    { name: "that says that there is none", signature: sign("content", "secret", "none"), want: false },
    { name: "that carries a payload", signature: sign("content", "secret").replace("..", ".x."), want: false },
    { name: "that is none", signature: "x", want: false },
  ])("$name: $want", ({ signature, want }) => expect(isSigned("content", signature, "secret")).toBe(want));
});

describe("a machine that looks for its cluster", () => {
  let ca: Authority;
  let other: Authority;
  const closing: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    ca = await createAuthority({ commonName: "kubernetes", clock });
    other = await createAuthority({ commonName: "kubernetes", clock });
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  /** Answers as an API server would; `answers`: one for each request, the last one again. */
  async function server(issuer: Authority, answers: readonly { readonly status?: number; readonly data?: object }[]) {
    const pair = await issuer.issue({ commonName: "s", ipAddresses: ["127.0.0.1"], usages: ["server"] });
    let asked = 0;
    const listening = createServer({ cert: pair.certPem, key: pair.keyPem }, (_, response) => {
      const { status = 200, data } = answers[Math.min(asked++, answers.length - 1)] ?? {};
      response.writeHead(status).end(JSON.stringify({ data }));
    }).listen(0, "127.0.0.1");
    await once(listening, "listening");
    closing.push(() => new Promise((resolve) => listening.close(resolve)));
    const { port } = listening.address() as { port: number };
    return `127.0.0.1:${port}`;
  }
  const info = ({ certPem }: Authority, secret = "0123456789abcdef") => {
    const data = Buffer.from(certPem).toString("base64");
    const cluster = { server: "https://192.0.2.1:6443", "certificate-authority-data": data };
    const kubeconfig = JSON.stringify({ clusters: [{ name: "", cluster }] });
    return { data: { kubeconfig, "jws-kubeconfig-abcdef": sign(kubeconfig, secret) } };
  };
  const discover = (endpoint: string, hash = caHash(ca.certPem)) =>
    discoverCluster({ endpoint, token: TOKEN, caHash: hash, clock });

  it("finds it", async () => {
    const found = await discover(await server(ca, [info(ca)]));
    expect(found).toEqual({ server: "https://192.0.2.1:6443", caPem: ca.certPem });
  });

  it.each([
    { name: "another authority", answers: () => [info(other)], want: "has another authority" },
    { name: "a wrong secret", answers: () => [info(ca, "another")], want: "with another secret" },
    { name: "no cluster-info", answers: () => [{ status: 404 }], want: "has no cluster-info" },
    {
      name: "a server that hides it",
      answers: () => [{ status: 403 }],
      want: "does not show cluster-info to strangers",
    },
    { name: "a server that starts", answers: () => [{ status: 503 }], want: "is not ready (503)" },
    { name: "another answer once it is verified", answers: () => [info(ca), info(other)], want: "changed its answer" },
  ])("refuses $name", async ({ answers, want }) => {
    await expect(discover(await server(ca, answers()))).rejects.toThrow(want);
  });

  it("refuses a server that only shows the right authority, and is not of it", async () => {
    await expect(discover(await server(other, [info(ca)]))).rejects.toThrow("cannot be reached");
  });

  it("says what is wrong where nobody answers, and of a token that is none", async () => {
    await expect(discover("127.0.0.1:1")).rejects.toThrow("cannot be reached: connect ECONNREFUSED");
    await expect(discoverCluster({ endpoint: "127.0.0.1:1", token: "x", caHash: "", clock })).rejects.toThrow("form");
  });
});
