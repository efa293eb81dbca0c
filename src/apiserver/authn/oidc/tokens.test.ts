import { createHmac } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { realClock, settled, silentLogger, VirtualClock } from "#base";
import { type Changes, jwtAuthenticator } from "../testing/jwt-authenticator.ts";
import { AUDIENCE, type OidcServer, startOidcServer } from "../testing/oidc-server.ts";
import { celExpressions } from "./cel-expressions.ts";
import { type OidcTokens, oidcTokens, SIGNING_ALGORITHMS } from "./tokens.ts";

let provider: OidcServer;
const open: OidcTokens[] = [];

beforeAll(async () => {
  provider = await startOidcServer();
});
afterEach(() => {
  provider.unavailable(false);
  for (const tokens of open.splice(0)) tokens.close();
});
afterAll(() => provider.close());

/** Time stands still at the present: the provider's tokens are of now. */
function world(changes: Changes = {}, algorithms: readonly string[] = ["RS256"]) {
  const clock = new VirtualClock(realClock().now());
  const { issuer: url, ca: certificateAuthority } = provider;
  const authenticator = jwtAuthenticator({ ...changes, issuer: { url, certificateAuthority, ...changes.issuer } });
  const tokens = oidcTokens({ authenticator, algorithms, compiler: celExpressions(), clock, log: silentLogger });
  open.push(tokens);
  return { clock, tokens, ask: (token: string) => tokens.authenticate(token, []) };
}

const jwks = () => provider.fetched.get("/jwks") ?? 0;

describe("tokens of an OpenID Connect provider", () => {
  it("name a user, groups, and themselves", async () => {
    const token = await provider.token({ groups: ["dev", "ops"] });
    expect(await world().ask(token)).toEqual({
      user: {
        name: "oidc:kubectl",
        groups: ["dev", "ops"],
        extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^JTI=./)] },
      },
    });
  });

  it.each<{ name: string; changes: Changes; claims?: object; want: string | RegExp }>([
    {
      name: "for another audience",
      changes: { issuer: { audiences: ["other"] } },
      want: 'oidc: verify token: oidc: expected audience "other" got ["kubernetes"]',
    },
    {
      name: "for none of several audiences",
      changes: { issuer: { audiences: ["a", "b"], audienceMatchPolicy: "MatchAny" } },
      want: 'oidc: verify token: oidc: expected audience in ["a" "b"] got ["kubernetes"]',
    },
    {
      name: "without a required claim",
      changes: { claimValidationRules: [{ claim: "hd", requiredValue: "acme.com" }] },
      want: "oidc: required claim hd not present in ID token",
    },
    {
      name: "with another value of it",
      changes: { claimValidationRules: [{ claim: "hd", requiredValue: "acme.com" }] },
      claims: { hd: "evil.com" },
      want: "oidc: required claim hd value does not match. Got = evil.com, want = acme.com",
    },
    {
      name: "with a mail address that is not verified",
      changes: { claimMappings: { username: { claim: "email", prefix: "", expression: "" } } },
      claims: { email: "a@acme.com", email_verified: false },
      want: "oidc: email not verified",
    },
    {
      name: "without the claim of the user",
      changes: { claimMappings: { username: { claim: "email", prefix: "", expression: "" } } },
      want: 'oidc: parse username claims "email": claim not present',
    },
    {
      name: "with groups that are none",
      changes: {},
      claims: { groups: [1] },
      want: 'oidc: parse groups claim "groups": it is neither a string nor a list of strings',
    },
  ])("$name are refused", async ({ changes, claims, want }) => {
    expect(await world(changes).ask(await provider.token(claims))).toEqual({ refused: [want] });
  });

  it.each<{ name: string; changes: Changes; claims: object; want: object }>([
    {
      name: "for one of several audiences",
      changes: { issuer: { audiences: ["a", AUDIENCE], audienceMatchPolicy: "MatchAny" } },
      claims: {},
      want: { name: "oidc:kubectl" },
    },
    { name: "with one group that is no list", changes: {}, claims: { groups: "dev" }, want: { groups: ["dev"] } },
    {
      name: "with prefixes and a uid",
      changes: {
        claimMappings: {
          username: { claim: "email", prefix: "mail:", expression: "" },
          groups: { claim: "roles", prefix: "role:", expression: "" },
          uid: { claim: "oid", expression: "" },
        },
      },
      claims: { email: "a@acme.com", email_verified: true, roles: ["x"], oid: "u-1" },
      want: { name: "mail:a@acme.com", groups: ["role:x"], uid: "u-1" },
    },
    {
      name: "with a required claim",
      changes: { claimValidationRules: [{ claim: "hd", requiredValue: "acme.com" }] },
      claims: { hd: "acme.com" },
      want: { name: "oidc:kubectl" },
    },
  ])("$name are good", async ({ changes, claims, want }) => {
    expect(await world(changes).ask(await provider.token(claims))).toMatchObject({ user: want });
  });

  it("of another issuer are no business of this one", async () => {
    const { ask } = world({ issuer: { url: "https://other.example" } });
    expect(await ask(await provider.token())).toBeUndefined();
    expect(await ask("static-token")).toBeUndefined();
  });

  it("expire to the second, and begin a minute early at most", async () => {
    const { clock, ask } = world();
    const token = await provider.token({ nbf: Math.floor(clock.now() / 1000) + 90 });
    expect(await ask(token)).toEqual({
      refused: [expect.stringMatching(/current time .* before the nbf \(not before\) time: /)],
    });
    clock.jump(31_000);
    expect(await ask(token)).toMatchObject({ user: {} });
    clock.jump(7200_000);
    expect(await ask(token)).toEqual({
      refused: [expect.stringMatching(/oidc: token is expired \(Token Expiry: [-0-9]+ /)],
    });
  });

  it("survive claims that no clock can show", async () => {
    const { ask } = world();
    const token = await provider.token({ nbf: 1e300 });
    expect(await ask(token)).toEqual({ refused: [expect.stringContaining("before the nbf")] });
  });

  it.each([
    { name: "not signed", alg: "none", sign: () => "" },
    {
      name: "signed with a public key as a secret",
      alg: "HS256",
      sign: (input: string) => createHmac("sha256", "key").update(input).digest("base64url"),
    },
    { name: "of another algorithm than allowed", alg: "ES256", sign: () => "AAAA" },
  ])("$name are refused before any key is looked at", async ({ alg, sign }) => {
    const [, payload] = (await provider.token()).split(".");
    const header = Buffer.from(JSON.stringify({ alg })).toString("base64url");
    const before = jwks();
    expect(await world().ask(`${header}.${payload}.${sign(`${header}.${payload}`)}`)).toEqual({
      refused: [
        `oidc: verify token: oidc: id token signed with unsupported algorithm, expected ["RS256"] got "${alg}"`,
      ],
    });
    expect(jwks()).toBe(before);
  });

  it("tampered with are refused", async () => {
    const [header, payload = "", signature] = (await provider.token()).split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const other = Buffer.from(JSON.stringify({ ...claims, sub: "admin" })).toString("base64url");
    expect(await world().ask(`${header}.${other}.${signature}`)).toEqual({
      refused: ["oidc: verify token: failed to verify signature: failed to verify id token signature"],
    });
  });
});

describe("the keys of a provider", () => {
  it("are fetched once for many tokens", async () => {
    const { ask } = world();
    const before = jwks();
    for (let i = 0; i < 3; i++) expect(await ask(await provider.token())).toMatchObject({ user: {} });
    expect(jwks()).toBe(before + 1);
  });

  it("may change: a new one is found at once, but not sought more often than every five seconds", async () => {
    const { clock, ask } = world({}, SIGNING_ALGORITHMS);
    const old = await provider.token();
    expect(await ask(old)).toMatchObject({ user: {} });
    await clock.advance(5_001);
    await provider.rotate({ keep: true, alg: "ES256" });
    expect(await ask(await provider.token())).toMatchObject({ user: {} });
    expect(await ask(old)).toMatchObject({ user: {} });

    await provider.rotate({ keep: false });
    const newest = await provider.token();
    const before = jwks();
    for (let i = 0; i < 3; i++) expect(await ask(newest)).toMatchObject({ refused: [expect.any(String)] });
    expect(jwks()).toBe(before);
    await clock.advance(5_001);
    expect(await ask(newest)).toMatchObject({ user: {} });
    expect(await ask(old)).toMatchObject({ refused: [expect.any(String)] });
  });

  it("that the provider has dropped are dropped after ten minutes; if it is away, they stay", async () => {
    const { clock, ask } = world();
    const old = await provider.token();
    expect(await ask(old)).toMatchObject({ user: {} });
    await provider.rotate({ keep: false });
    await clock.advance(600_001);
    provider.unavailable(true);
    expect(await ask(old)).toMatchObject({ user: {} });
    provider.unavailable(false);
    await clock.advance(600_001);
    expect(await ask(old)).toMatchObject({ refused: [expect.any(String)] });
  });

  it("are sought until the provider answers", async () => {
    const { clock, tokens, ask } = world();
    const token = await provider.token();
    provider.unavailable(true);
    expect(await ask(token)).toEqual({ refused: ["oidc: authenticator not initialized"] });
    const stop = new AbortController();
    const running = tokens.run(stop.signal);
    while (clock.pending === 0) await settled();
    provider.unavailable(false);
    await clock.advance(10_000);
    await running;
    expect(await ask(token)).toMatchObject({ user: {} });
  });

  it("of a provider that calls itself otherwise do not count", async () => {
    const { ask, clock } = world({
      issuer: { url: `${provider.issuer}/tenant`, discoveryURL: `${provider.issuer}/.well-known/openid-configuration` },
    });
    const now = Math.floor(clock.now() / 1000);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = { iss: `${provider.issuer}/tenant`, aud: AUDIENCE, exp: now + 60, sub: "x" };
    expect(await ask(`${part({ alg: "RS256" })}.${part(claims)}.AAAA`)).toEqual({
      refused: ["oidc: authenticator not initialized"],
    });
  });

  it("are not taken from a server that another authority vouches for", async () => {
    const other = await startOidcServer();
    try {
      const { ask } = world({ issuer: { certificateAuthority: other.ca } });
      expect(await ask(await provider.token())).toEqual({ refused: ["oidc: authenticator not initialized"] });
    } finally {
      await other.close();
    }
  });
});
