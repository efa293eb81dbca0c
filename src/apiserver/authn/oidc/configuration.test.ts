import { describe, expect, it } from "vitest";
import { type Changes, jwtAuthenticator } from "../testing/jwt-authenticator.ts";
import { celExpressions } from "./cel-expressions.ts";
import {
  type AuthenticationConfiguration,
  invalidConfiguration,
  parseAuthenticationConfiguration,
} from "./configuration.ts";
import { authenticatorOfFlags } from "./flags.ts";
import { validateAuthenticationConfiguration } from "./validate.ts";

const HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n";
const MINIMAL = `${HEAD}
jwt:
- issuer:
    url: https://issuer.example
    audiences: [kubernetes]
  claimMappings:
    username: { claim: sub, prefix: "oidc:" }
`;

describe("an AuthenticationConfiguration", () => {
  it("is read whole", () => {
    const text = `${HEAD}
jwt:
- issuer:
    url: https://issuer.example
    discoveryURL: https://elsewhere.example/doc
    audiences: [a, b]
    audienceMatchPolicy: MatchAny
  claimValidationRules:
  - { claim: hd, requiredValue: acme.com }
  claimMappings:
    username: { claim: email, prefix: "" }
    groups: { claim: roles, prefix: "r:" }
    uid: { claim: oid }
anonymous:
  enabled: true
  conditions: [{ path: /livez }]
`;
    expect(parseAuthenticationConfiguration(text, "f")).toEqual({
      jwt: [
        jwtAuthenticator({
          issuer: {
            discoveryURL: "https://elsewhere.example/doc",
            audiences: ["a", "b"],
            audienceMatchPolicy: "MatchAny",
          },
          claimValidationRules: [{ claim: "hd", requiredValue: "acme.com" }],
          claimMappings: {
            username: { claim: "email", prefix: "", expression: "" },
            groups: { claim: "roles", prefix: "r:", expression: "" },
            uid: { claim: "oid", expression: "" },
          },
        }),
      ],
      anonymous: { enabled: true, conditions: [{ path: "/livez" }] },
    });
  });

  it("tells an empty prefix from none", () => {
    const [authenticator] = parseAuthenticationConfiguration(MINIMAL, "f").jwt;
    expect(authenticator?.claimMappings).toMatchObject({
      username: { prefix: "oidc:" },
      groups: { prefix: undefined },
    });
  });

  it.each([
    ["", "f is no AuthenticationConfiguration"],
    ["kind: AuthenticationConfiguration\napiVersion: v1", "f is no AuthenticationConfiguration"],
    ["a: [", "f: "],
    [`${HEAD}jwts: []`, "f: jwts: Forbidden: unknown field"],
    [MINIMAL.replace("username:", "user:"), "f: jwt[0].claimMappings.user: Forbidden: unknown field"],
    [MINIMAL.replace("[kubernetes]", "kubernetes"), "f: jwt[0].issuer.audiences: Invalid value: "],
    [`${HEAD}anonymous: { enabled: "yes" }`, "f: anonymous.enabled: Invalid value: "],
  ])("that cannot be read is refused, with a reason %#", (text, want) => {
    expect(() => parseAuthenticationConfiguration(text, "f")).toThrow(want);
  });
});

describe("what makes no sense", () => {
  const faults = (
    configuration: Partial<AuthenticationConfiguration>,
    disallowed = ["https://kubernetes.default.svc"],
  ) =>
    validateAuthenticationConfiguration({ jwt: [], ...configuration }, disallowed, celExpressions()).map(
      (error) => invalidConfiguration("f", [error]).message,
    );

  it.each<{ name: string; changes: Changes; want: unknown[] }>([
    { name: "nothing", changes: {}, want: [] },
    { name: "no issuer", changes: { issuer: { url: "" } }, want: ["f: jwt[0].issuer.url: Required value"] },
    {
      name: "an issuer without TLS",
      changes: { issuer: { url: "http://issuer.example" } },
      want: ['f: jwt[0].issuer.url: Invalid value: "http://issuer.example": URL scheme must be https'],
    },
    {
      name: "an issuer with much else",
      changes: { issuer: { url: "https://u:p@issuer.example/?q#f" } },
      want: [
        'f: jwt[0].issuer.url: Invalid value: "https://u:p@issuer.example/?q#f": URL must not contain a username or password',
        'f: jwt[0].issuer.url: Invalid value: "https://u:p@issuer.example/?q#f": URL must not contain a query',
        'f: jwt[0].issuer.url: Invalid value: "https://u:p@issuer.example/?q#f": URL must not contain a fragment',
      ],
    },
    {
      name: "the cluster's own issuer",
      changes: { issuer: { url: "https://kubernetes.default.svc" } },
      want: [
        'f: jwt[0].issuer.url: Invalid value: "https://kubernetes.default.svc": URL must not overlap with disallowed issuers: [https://kubernetes.default.svc]',
      ],
    },
    {
      name: "a discovery URL that is the issuer's",
      changes: { issuer: { discoveryURL: "https://issuer.example/" } },
      want: [
        'f: jwt[0].issuer.discoveryURL: Invalid value: "https://issuer.example/": discoveryURL must be different from URL',
      ],
    },
    {
      name: "no audience",
      changes: { issuer: { audiences: [] } },
      want: ["f: jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required"],
    },
    {
      name: "audiences twice, and no policy",
      changes: { issuer: { audiences: ["a", "a", ""] } },
      want: [
        'f: jwt[0].issuer.audiences[1]: Duplicate value: "a"',
        "f: jwt[0].issuer.audiences[2]: Required value",
        'f: jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
      ],
    },
    {
      name: "an authority that is none",
      changes: { issuer: { certificateAuthority: "x" } },
      want: [
        'f: jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA certificates',
      ],
    },
    {
      name: "no user name, groups without a prefix",
      changes: {
        claimMappings: {
          username: { claim: "", prefix: undefined, expression: "" },
          groups: { claim: "g", prefix: undefined, expression: "" },
        },
      },
      want: [
        "f: jwt[0].claimMappings.username: Required value: claim or expression is required",
        "f: jwt[0].claimMappings.groups.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing",
      ],
    },
    {
      name: "rules that say nothing, or the same twice",
      changes: {
        claimValidationRules: [{}, { claim: "a" }, { claim: "a", message: "m" }, { claim: "a", expression: "true" }],
      },
      want: [
        "f: jwt[0].claimValidationRules[0]: Required value: claim or expression is required",
        'f: jwt[0].claimValidationRules[2].message: Invalid value: "m": may not be specified when claim is set',
        'f: jwt[0].claimValidationRules[2].claim: Duplicate value: "a"',
        'f: jwt[0].claimValidationRules[3]: Invalid value: "a": claim and expression can\'t both be set',
      ],
    },
    {
      name: "a claim and an expression, a prefix of an expression",
      changes: {
        claimMappings: {
          username: { claim: "sub", prefix: undefined, expression: "claims.sub" },
          groups: { claim: "", prefix: "", expression: "claims.groups" },
          uid: { claim: "a", expression: "claims.b" },
        },
      },
      want: [
        'f: jwt[0].claimMappings.username: Invalid value: "": claim and expression can\'t both be set',
        'f: jwt[0].claimMappings.groups.prefix: Invalid value: "": may not be specified when expression is set',
        'f: jwt[0].claimMappings.uid: Invalid value: "": claim and expression can\'t both be set',
      ],
    },
    {
      name: "expressions that are none, or no bool, or twice",
      changes: {
        claimValidationRules: [
          { expression: "claims." },
          { expression: "'text'" },
          { expression: "claims.a == 1" },
          { expression: "claims.a == 1", requiredValue: "x" },
        ],
        userValidationRules: [
          { expression: "user.name == ''", message: "" },
          { expression: "", message: "" },
        ],
      },
      want: [
        expect.stringContaining(
          'f: jwt[0].claimValidationRules[0].expression: Invalid value: "claims.": compilation failed: ',
        ),
        "f: jwt[0].claimValidationRules[1].expression: Invalid value: \"'text'\": must evaluate to bool",
        'f: jwt[0].claimValidationRules[3].requiredValue: Invalid value: "x": may not be specified when expression is set',
        'f: jwt[0].claimValidationRules[3].expression: Duplicate value: "claims.a == 1"',
        expect.stringContaining(
          "f: jwt[0].userValidationRules[0].expression: Invalid value: \"user.name == ''\": compilation failed: ",
        ),
        "f: jwt[0].userValidationRules[1].expression: Required value",
      ],
    },
    {
      name: "keys of extra that are no keys",
      changes: {
        claimMappings: {
          extra: [
            { key: "team", valueExpression: "claims.a" },
            { key: "Acme.com/Team", valueExpression: "claims.a" },
            { key: "x.kubernetes.io/a", valueExpression: "claims.a" },
            { key: "acme.com/a", valueExpression: "" },
            { key: "acme.com/a", valueExpression: "claims.a" },
          ],
        },
      },
      want: [
        'f: jwt[0].claimMappings.extra[0].key: Invalid value: "team": must be a domain-prefixed path (such as "acme.io/foo")',
        expect.stringContaining('f: jwt[0].claimMappings.extra[1].key: Invalid value: "Acme.com": '),
        'f: jwt[0].claimMappings.extra[1].key: Invalid value: "Acme.com/Team": must be lowercase',
        'f: jwt[0].claimMappings.extra[2].key: Invalid value: "x.kubernetes.io/a": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use',
        "f: jwt[0].claimMappings.extra[3].valueExpression: Required value",
        'f: jwt[0].claimMappings.extra[4].key: Duplicate value: "acme.com/a"',
      ],
    },
    {
      name: "a mail address that nobody has verified",
      changes: {
        claimMappings: {
          username: { claim: "", prefix: undefined, expression: "claims.email + 'claims.email_verified'" },
        },
      },
      want: [expect.stringContaining("claims.email_verified must be used in claimMappings.username.expression")],
    },
    {
      name: "nothing, if a rule looks whether it is verified",
      changes: {
        claimMappings: { username: { claim: "", prefix: undefined, expression: "claims.email" } },
        claimValidationRules: [{ expression: "claims.?email_verified.orValue(true) == true" }],
      },
      want: [],
    },
  ])("$name", ({ changes, want }) => {
    expect(faults({ jwt: [jwtAuthenticator(changes)] })).toEqual(want);
  });

  it("the same issuer twice", () => {
    expect(faults({ jwt: [jwtAuthenticator(), jwtAuthenticator()] })).toEqual([
      'f: jwt[1].issuer.url: Duplicate value: "https://issuer.example"',
    ]);
  });

  it("conditions of what is not allowed", () => {
    expect(faults({ anonymous: { enabled: false, conditions: [{ path: "/a" }] } })).toEqual([
      'f: anonymous.conditions: Invalid value: [{"path":"/a"}]: enabled should be set to true when conditions are defined',
    ]);
  });
});

it.each(["controlplane", "cluster"])("egressSelectorType %s needs an egress configuration", (egressSelectorType) => {
  const made = authenticatorOfFlags({ issuerUrl: "https://issuer.example", clientId: "kubernetes" });
  const jwt = [{ ...made, issuer: { ...made.issuer, egressSelectorType } }];
  expect(validateAuthenticationConfiguration({ jwt }, [], celExpressions(), true)).toEqual([]);
  expect(validateAuthenticationConfiguration({ jwt }, [], celExpressions())).toMatchObject([
    { detail: `oidc: egress lookup required with egress selector type "${egressSelectorType}"` },
  ]);
});

describe("the --oidc-* flags", () => {
  const flags = { issuerUrl: "https://issuer.example", clientId: "kubernetes" };
  it.each([
    { name: "alone", given: flags, username: { claim: "sub", prefix: "https://issuer.example#" } },
    {
      name: "with mail addresses",
      given: { ...flags, usernameClaim: "email" },
      username: { claim: "email", prefix: "" },
    },
    { name: "without a prefix", given: { ...flags, usernamePrefix: "-" }, username: { claim: "sub", prefix: "" } },
    { name: "with one", given: { ...flags, usernamePrefix: "x:" }, username: { claim: "sub", prefix: "x:" } },
  ])("$name", ({ given, username }) => {
    const authenticator = authenticatorOfFlags(given);
    expect(authenticator.claimMappings.username).toMatchObject(username);
    expect(validateAuthenticationConfiguration({ jwt: [authenticator] }, [], celExpressions())).toEqual([]);
  });

  it("need both an issuer and a client", () => {
    expect(() => authenticatorOfFlags({ ...flags, clientId: "" })).toThrow(
      "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set",
    );
  });
});
