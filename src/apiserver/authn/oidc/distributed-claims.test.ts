import type { RequestListener } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { realClock, settled, silentLogger, VirtualClock } from "#base";
import { type Changes, jwtAuthenticator } from "../testing/jwt-authenticator.ts";
import { type OidcServer, startOidcServer } from "../testing/oidc-server.ts";
import { celExpressions } from "./cel-expressions.ts";
import { authenticatorOfFlags } from "./flags.ts";
import { type OidcTokens, oidcTokens } from "./tokens.ts";

/** `other` is an issuer that the same authority vouches for, `stranger` one of another authority. */
let provider: OidcServer;
let other: OidcServer;
let stranger: OidcServer;
const open: OidcTokens[] = [];

beforeAll(async () => {
  provider = await startOidcServer();
  other = await startOidcServer({ authority: provider.authority });
  stranger = await startOidcServer();
});
afterEach(() => {
  other.unavailable(false);
  for (const tokens of open.splice(0)) tokens.close();
});
afterAll(() => Promise.all([provider.close(), other.close(), stranger.close()]));

function world(authenticator = ofChanges({})) {
  const clock = new VirtualClock(realClock().now());
  const compiler = celExpressions();
  const tokens = oidcTokens({ authenticator, algorithms: ["RS256"], compiler, clock, log: silentLogger });
  open.push(tokens);
  return { clock, ask: (token: string) => tokens.authenticate(token, []) };
}

function ofChanges(changes: Changes) {
  const { issuer: url, ca: certificateAuthority } = provider;
  return jwtAuthenticator({ ...changes, issuer: { url, certificateAuthority } });
}

/** A token whose groups are at the endpoint. */
function token(endpoint: string, more: object = {}): Promise<string> {
  return provider.token({
    _claim_names: { groups: "src1" },
    _claim_sources: { src1: { endpoint, access_token: "opaque" } },
    ...more,
  });
}

const answers =
  (text: string, status = 200): RequestListener =>
  (_, response) =>
    void response.writeHead(status, { "content-type": "application/jwt" }).end(text);

let paths = 0;
/** The URL of an endpoint that answers so. */
function endpoint(listener: RequestListener, server = provider): string {
  const path = `/claims-${paths++}`;
  server.serve(path, listener);
  return `${server.issuer}${path}`;
}

const WHY = "oidc: could not expand distributed claims: ";

describe("groups that a token leaves to an endpoint", () => {
  it.each([
    { name: "signed by the token's own issuer", issuer: () => provider },
    { name: "signed by another issuer", issuer: () => other },
  ])("are fetched there: $name", async ({ issuer }) => {
    const url = endpoint(answers(`${await issuer().token({ groups: ["dev", "ops"] })}\n`));
    expect(await world().ask(await token(url))).toMatchObject({
      user: { name: "oidc:kubectl", groups: ["dev", "ops"] },
    });
  });

  it("are fetched for an issuer of the flags", async () => {
    const { issuer: issuerUrl, ca } = provider;
    const flags = { issuerUrl, clientId: "kubernetes", groupsClaim: "groups", groupsPrefix: "oidc:", ca };
    const url = endpoint(answers(await other.token({ groups: "dev" })));
    expect(await world(authenticatorOfFlags(flags)).ask(await token(url))).toMatchObject({
      user: { groups: ["oidc:dev"] },
    });
  });

  it("are fetched with the access token, and rules about claims see them", async () => {
    const seen: (string | undefined)[] = [];
    const jwt = await other.token({ groups: ["dev"] });
    const url = endpoint((request, response) => {
      seen.push(request.headers.authorization);
      response.end(jwt);
    });
    const { ask } = world(ofChanges({ claimValidationRules: [{ expression: "'dev' in claims.groups" }] }));
    expect(await ask(await token(url))).toMatchObject({ user: { groups: ["dev"] } });
    const bare = { _claim_sources: { src1: { endpoint: url } } };
    expect(await ask(await token(url, bare))).toMatchObject({ user: { groups: ["dev"] } });
    expect(seen).toEqual(["Bearer opaque", undefined]);
  });

  it.each<{ name: string; changes?: Changes; claims: object; want: readonly string[] }>([
    { name: "the token has the claim", claims: { groups: ["own"] }, want: ["own"] },
    { name: "another claim is distributed", claims: { _claim_names: { shoe_size: "src1" } }, want: [] },
    { name: "the claim is aggregated", claims: { _claim_sources: { src1: { JWT: "a.b.c" } } }, want: [] },
    {
      name: "groups come from an expression",
      changes: { claimMappings: { groups: { claim: "", prefix: undefined, expression: "'fixed'" } } },
      claims: {},
      want: ["fixed"],
    },
  ])("are not fetched if $name", async ({ changes, claims, want }) => {
    const path = `/claims-${paths}`;
    const url = endpoint(answers("never"));
    expect(await world(ofChanges(changes ?? {})).ask(await token(url, claims))).toMatchObject({
      user: { groups: want },
    });
    expect(provider.fetched.get(path)).toBeUndefined();
  });

  it.each<{ name: string; claims: object; want: string }>([
    { name: "no sources", claims: { _claim_sources: undefined }, want: "oidc: no claim sources" },
    {
      name: "names that are a list",
      claims: { _claim_names: ["groups"] },
      want: "oidc: error parsing distributed claim names: json: cannot unmarshal array into Go value of type map[string]string",
    },
    {
      name: "sources that are a text",
      claims: { _claim_sources: "src1" },
      want: "oidc: could not parse claim sources: json: cannot unmarshal string into Go value of type map[string]oidc.endpoint",
    },
    {
      name: "an endpoint that is a number",
      claims: { _claim_sources: { src1: { endpoint: 7 } } },
      want: "oidc: could not parse claim sources: json: cannot unmarshal number into Go struct field endpoint.endpoint of type string",
    },
    {
      name: "a source that is not listed",
      claims: { _claim_names: { groups: "constructor" } },
      want: "id token _claim_names contained a source constructor missing in _claims_sources",
    },
    {
      name: "an endpoint without TLS",
      claims: { _claim_sources: { src1: { endpoint: "http://127.0.0.1:1/claims" } } },
      want: 'while getting distributed claim "groups": http://127.0.0.1:1/claims is not an https URL',
    },
  ])("refuse the token if they are malformed: $name", async ({ claims, want }) => {
    expect(await world().ask(await token("https://127.0.0.1:1/never", claims))).toEqual({ refused: [WHY + want] });
  });
});

describe("an endpoint of claims", () => {
  it.each<{ name: string; answer: () => Promise<string> | string; want: string | RegExp }>([
    {
      name: "whose answer names an issuer of another authority",
      answer: () => stranger.token({ groups: ["system:masters"] }),
      want: /^verifying untrusted issuer https:\S+ failed: verifier not initialized for issuer: "https:\S+"$/,
    },
    {
      name: "whose answer is signed by another issuer than it names",
      answer: async () => {
        const [header, payload = ""] = (await stranger.token({ groups: ["system:masters"] })).split(".");
        const claims = { ...JSON.parse(Buffer.from(payload, "base64url").toString()), iss: other.issuer };
        return `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.AAAA`;
      },
      want: "verify distributed claim token: failed to verify signature: failed to verify id token signature",
    },
    {
      name: "whose answer is not signed",
      answer: async () => {
        const [, payload] = (await other.token({ groups: ["system:masters"] })).split(".");
        return `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.`;
      },
      want: 'verify distributed claim token: oidc: id token signed with unsupported algorithm, expected ["RS256"] got "none"',
    },
    {
      name: "whose answer has expired",
      answer: () => other.signed({ groups: ["dev"], aud: "kubernetes", exp: 1 }),
      want: "verify distributed claim token: oidc: token is expired (Token Expiry: 1970-01-01 00:00:01 +0000 UTC)",
    },
    {
      name: "whose answer is for another audience",
      answer: () => other.signed({ groups: ["dev"], aud: "others", exp: 9_999_999_999 }),
      want: 'verify distributed claim token: oidc: expected audience "kubernetes" got ["others"]',
    },
    {
      name: "whose answer leaves the groups to an endpoint again",
      answer: () =>
        other.token({ _claim_names: { groups: "again" }, _claim_sources: { again: { endpoint: other.issuer } } }),
      want: /^jwt returned by distributed claim endpoint "https:\S+" did not contain claim: groups$/,
    },
    {
      name: "whose answer is no token",
      answer: () => '{"groups":["system:masters"]}',
      want: /^getting untrusted issuer from endpoint https:\S+ failed for claim "groups": token is not compact JWT$/,
    },
    {
      name: "whose answer is a file of megabytes",
      answer: () => "a".repeat(5 * 1024 * 1024),
      want: /^while getting distributed claim "groups": the answer of https:\S+ is too large$/,
    },
    {
      name: "whose answer is a token of megabytes",
      answer: () => `${"a".repeat(3 * 1024 * 1024)}.a.a`,
      want: /^getting untrusted issuer from endpoint https:\S+ failed for claim "groups": malformed token$/,
    },
  ])("$name refuses the token", async ({ answer, want }) => {
    const url = endpoint(answers(await answer()));
    const why =
      typeof want === "string" ? WHY + want : expect.stringMatching(new RegExp(want.source.replace("^", WHY)));
    expect(await world().ask(await token(url))).toEqual({ refused: [why] });
  });

  it("that answers with an error refuses the token", async () => {
    const url = endpoint(answers("", 403));
    expect(await world().ask(await token(url))).toEqual({
      refused: [
        `${WHY}while getting distributed claim "groups": error while getting distributed claim JWT: 403 Forbidden`,
      ],
    });
  });

  it("that hangs is given up after half a minute", async () => {
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const url = endpoint(() => arrived());
    const { clock, ask } = world();
    const asked = ask(await token(url));
    await arrival;
    while (clock.pending === 0) await settled();
    await clock.advance(30_000);
    expect(await asked).toEqual({
      refused: [`${WHY}while getting distributed claim "groups": no answer from ${url} within 30000 ms`],
    });
  });

  it("that redirects elsewhere does not get the access token sent there", async () => {
    const seen: (string | undefined)[] = [];
    const jwt = await other.token({ groups: ["dev"] });
    const final: RequestListener = (request, response) => {
      seen.push(request.headers.authorization);
      response.end(jwt);
    };
    const elsewhere = endpoint(final, other);
    const here = endpoint(final);
    const moved = (to: string) => endpoint((_, response) => void response.writeHead(302, { location: to }).end());
    const { ask } = world();
    for (const to of [here, elsewhere]) {
      expect(await ask(await token(moved(to)))).toMatchObject({ user: { groups: ["dev"] } });
    }
    expect(seen).toEqual(["Bearer opaque", undefined]);
  });

  it.each([
    { name: "to itself for ever", to: (url: string) => url, want: /redirects too often$/ },
    { name: "out of TLS", to: () => "http://127.0.0.1:1/", want: /http:\/\/127.0.0.1:1\/ is not an https URL$/ },
  ])("that redirects $name refuses the token", async ({ to, want }) => {
    const url: string = endpoint((_, response) => void response.writeHead(302, { location: to(url) }).end());
    expect(await world().ask(await token(url))).toEqual({ refused: [expect.stringMatching(want)] });
  });

  it("names any number of issuers, and few are kept", async () => {
    const { ask } = world();
    const [header, payload = ""] = (await other.token({ groups: ["dev"] })).split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    for (let i = 0; i < 20; i++) {
      const invented = Buffer.from(JSON.stringify({ ...claims, iss: `${other.issuer}/${i}` })).toString("base64url");
      const url = endpoint(answers(`${header}.${invented}.AAAA`));
      expect(await ask(await token(url))).toMatchObject({ refused: [expect.stringContaining("not initialized")] });
    }
    const url = endpoint(answers(await other.token({ groups: ["dev"] })));
    expect(await ask(await token(url))).toMatchObject({ user: { groups: ["dev"] } });
  });
});
