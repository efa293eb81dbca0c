import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { type ClusterPki, ensureClusterPki } from "#pki";
import { type AuthenticationFlags, readAuthentication, readRequestHeader } from "./authentication.ts";
import { readChangingFiles, servingCertificate } from "./changing-files.ts";
import { ClusterError } from "./errors.ts";

let dir: string;
let pki: ClusterPki;
const file = (name: string, text: string) => {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
};
const configuration = (more: object = {}) =>
  JSON.stringify({ apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthenticationConfiguration", ...more });

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "k8ts-flags-"));
  const serverNames = { dnsNames: [], ipAddresses: ["127.0.0.1"] };
  pki = await ensureClusterPki(join(dir, "pki"), { clock: realClock(), serverNames });
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const read = async (flags: AuthenticationFlags) => readAuthentication(flags, await readChangingFiles(flags), pki);

describe("the flags of authentication", () => {
  it("may all be left out", async () => {
    expect(await read({})).toEqual({
      bootstrapTokens: true,
      serviceAccounts: { keys: [], signingKey: { file: join(dir, "pki/sa.key"), pem: pki.serviceAccount.keyPem } },
    });
  });

  it("name keys; the cluster's own goes on counting", async () => {
    const pem = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
    const signing = file("signing.key", pem.toString());
    const { serviceAccounts } = await read({
      serviceAccountSigningKeyFile: signing,
      serviceAccountKeyFile: [file("older.pub", pki.serviceAccount.publicKeyPem)],
      serviceAccountIssuer: ["https://new", "https://old"],
      serviceAccountMaxTokenExpirationMs: 2 * 3_600_000,
      apiAudiences: ["api"],
    });
    expect(serviceAccounts).toMatchObject({
      issuers: ["https://new", "https://old"],
      audiences: ["api"],
      maxExpirationSeconds: 7200,
      signingKey: { file: signing },
      keys: [{ file: join(dir, "older.pub") }, { file: join(dir, "pki/sa.key") }],
    });
  });

  it("name an issuer, with the algorithms that its tokens may be signed with", async () => {
    const oidc = { issuerUrl: "https://i", clientId: "c", requiredClaims: { hd: "acme.com" } };
    expect(await read({ oidc })).toMatchObject({
      jwt: {
        algorithms: ["RS256"],
        configuration: { jwt: [{ issuer: { url: "https://i" }, claimValidationRules: [{ claim: "hd" }] }] },
      },
    });
  });

  it("name a file of issuers, and who may be anonymous", async () => {
    const anonymous = { enabled: true, conditions: [{ path: "/livez" }] };
    expect(await read({ authenticationConfig: file("config", configuration({ anonymous })) })).toMatchObject({
      jwt: { configuration: { jwt: [], anonymous }, algorithms: expect.arrayContaining(["ES256", "PS512"]) },
    });
  });

  it("name a webhook by a kubeconfig", async () => {
    const kubeconfig = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "w", cluster: { server: "https://127.0.0.1:1/authn" } }],
      users: [{ name: "w", user: { token: "t" } }],
      contexts: [{ name: "w", context: { cluster: "w", user: "w" } }],
      "current-context": "w",
    };
    const flags = { authenticationTokenWebhookConfigFile: file("webhook", JSON.stringify(kubeconfig)) };
    expect(await read(flags)).toMatchObject({
      webhook: { version: "v1", cacheTtlMs: 120_000, connection: { server: "https://127.0.0.1:1/authn" } },
    });
  });

  it("add authorities of clients and of proxies to the cluster's own", async () => {
    const more = file("more.crt", pki.frontProxyCa.certPem);
    const { clientCa } = await readChangingFiles({ clientCaFile: more });
    expect(servingCertificate({ pki, clientCa, named: [] }).clientCaPem.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect(
      await readRequestHeader({ requestHeader: { clientCaFile: more, allowedNames: ["edge"] } }, pki),
    ).toMatchObject({
      allowedNames: ["front-proxy-client", "edge"],
      ca: expect.stringMatching(/BEGIN(?:.|\n)*BEGIN/),
      headers: { username: ["X-Remote-User"] },
    });
  });

  it.each<{ name: string; flags: () => AuthenticationFlags; want: string | RegExp }>([
    { name: "a file that is not there", flags: () => ({ tokenAuthFile: "/none" }), want: /^--token-auth-file: ENOENT/ },
    {
      name: "tokens that cannot be read",
      flags: () => ({ tokenAuthFile: file("t", "x") }),
      want: /t, line 1: a token/,
    },
    {
      name: "no certificate",
      flags: () => ({ clientCaFile: file("c", "x") }),
      want: /c contains no PEM certificate\.$/,
    },
    {
      name: "a configuration of something else",
      flags: () => ({ authenticationConfig: file("a", "kind: Pod") }),
      want: /a is no AuthenticationConfiguration/,
    },
    {
      name: "a configuration beside flags",
      flags: () => ({ authenticationConfig: file("a", configuration()), oidc: { issuerUrl: "https://i" } }),
      want: "authentication-config file and oidc-* flags are mutually exclusive",
    },
    {
      name: "two opinions on the anonymous",
      flags: () => ({
        authenticationConfig: file("a", configuration({ anonymous: { enabled: true } })),
        anonymousAuth: true,
      }),
      want: "--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file",
    },
    {
      name: "an issuer without a client",
      flags: () => ({ oidc: { issuerUrl: "https://i" } }),
      want: "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set",
    },
    {
      name: "an algorithm that signs nothing",
      flags: () => ({ oidc: { issuerUrl: "https://i", clientId: "c", signingAlgs: ["none"] } }),
      want: 'oidc: unsupported signing alg: "none"',
    },
    {
      name: "tokens that are too short",
      flags: () => ({ serviceAccountMaxTokenExpirationMs: 60_000 }),
      want: "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds",
    },
    {
      name: "an issuer that is no URL",
      flags: () => ({ serviceAccountIssuer: ["https://a b"] }),
      want: /contained a ':' but was not a valid URL/,
    },
  ])("are refused in one sentence: $name", async ({ flags, want }) => {
    const error = await read(flags()).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ClusterError);
    expect((error as Error).message).toMatch(want);
  });
});
