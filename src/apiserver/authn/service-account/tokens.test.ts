import { createHmac, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { MetricsRegistry, VirtualClock } from "#base";
import { authenticationMetrics } from "../metrics.ts";
import { TestObjects } from "../testing/objects.ts";
import { tokenIssuer } from "./issuer.ts";
import { type SigningKey, signingKey, temporaryKey, verificationKeys } from "./keys.ts";
import { accountTokenJudge, signedTokens } from "./tokens.ts";

const ISSUER = "https://kubernetes.default.svc.cluster.local";
const OWN = [ISSUER];
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const rsaKey = signingKey(rsa.privateKey.export({ type: "pkcs8", format: "pem" }).toString(), "rsa.key");
const key = temporaryKey();
const old = temporaryKey();
const stranger = temporaryKey();

const account = { metadata: { name: "sa", namespace: "ns", uid: "u-sa" } };
const pod = { metadata: { name: "web", namespace: "ns", uid: "u-pod" }, spec: { serviceAccountName: "sa" } };
const secret = { metadata: { name: "s", namespace: "ns", uid: "u-secret" } };
const node = { metadata: { name: "n1", uid: "u-node" } };
const ref = ({ metadata: { name, uid } }: { metadata: { name: string; uid: string } }) => ({ name, uid });

function world() {
  const clock = new VirtualClock();
  const objects = new TestObjects()
    .put("serviceaccounts", account)
    .put("pods", pod)
    .put("secrets", secret)
    .put("nodes", node);
  const keys = [key, old, rsaKey].map(({ privateKey: _, ...publicHalf }) => publicHalf);
  const metrics = new MetricsRegistry();
  const counts = authenticationMetrics(metrics, clock).accountTokens;
  const judge = accountTokenJudge({ objects, clock, counts });
  const judges = new Map([ISSUER, "https://older"].map((issuer) => [issuer, judge]));
  const authenticate = signedTokens({ keys, audiences: OWN, counts }, judges);
  const now = Math.floor(clock.now() / 1000);
  const claims = (change: JsonObject = {}, bound: JsonObject = {}): JsonObject => ({
    iss: ISSUER,
    sub: "system:serviceaccount:ns:sa",
    aud: OWN,
    jti: "id-1",
    iat: now,
    nbf: now,
    exp: now + 3600,
    "kubernetes.io": { namespace: "ns", serviceaccount: ref(account), ...bound },
    ...change,
  });
  return { clock, objects, authenticate, now, claims, counted: () => counted(metrics) };
}

/** What has been counted of tokens. */
function counted(metrics: MetricsRegistry): readonly string[] {
  return metrics.text().match(/^serviceaccount_\S+ [1-9]\d*$/gm) ?? [];
}

type World = ReturnType<typeof world>;

const sign = (claims: JsonObject, by: SigningKey = key) =>
  tokenIssuer(by, { issuer: ISSUER, audiences: OWN, extendExpiration: true }).sign(claims);

/** Any header, any signature. */
function forged(header: JsonObject, claims: JsonObject, signature: string | ((input: string) => string) = ""): string {
  const part = (value: JsonObject) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${typeof signature === "string" ? signature : signature(input)}`;
}

describe("whose token it is", () => {
  const user = {
    name: "system:serviceaccount:ns:sa",
    uid: "u-sa",
    groups: ["system:serviceaccounts", "system:serviceaccounts:ns"],
    extra: { "authentication.kubernetes.io/credential-id": ["JTI=id-1"] },
  };
  const extra = (more: Record<string, readonly string[]>) => ({ ...user, extra: { ...user.extra, ...more } });
  const named = (what: string, name: string, uid: string) => ({
    [`authentication.kubernetes.io/${what}-name`]: [name],
    [`authentication.kubernetes.io/${what}-uid`]: [uid],
  });
  it.each<{ name: string; token: (w: World) => Promise<string>; want: object }>([
    { name: "bound to nothing", token: ({ claims }) => sign(claims()), want: user },
    { name: "of an older issuer", token: ({ claims }) => sign(claims({ iss: "https://older" })), want: user },
    { name: "signed by an older key", token: ({ claims }) => sign(claims(), old), want: user },
    { name: "signed by an RSA key", token: ({ claims }) => sign(claims(), rsaKey), want: user },
    { name: "without a jti", token: ({ claims: c }) => sign(omit(c(), "jti")), want: omit(user, "extra") },
    { name: "for one audience among several", token: ({ claims }) => sign(claims({ aud: ["x", ISSUER] })), want: user },
    { name: "for an audience that is no list", token: ({ claims }) => sign(claims({ aud: ISSUER })), want: user },
    {
      name: "bound to a pod on a node",
      token: ({ claims }) => sign(claims({}, { pod: ref(pod), node: { name: "n9", uid: "u9" } })),
      want: extra({ ...named("pod", "web", "u-pod"), ...named("node", "n9", "u9") }),
    },
    { name: "bound to a secret", token: ({ claims }) => sign(claims({}, { secret: ref(secret) })), want: user },
    {
      name: "bound to a node",
      token: ({ claims }) => sign(claims({}, { node: ref(node) })),
      want: extra(named("node", "n1", "u-node")),
    },
    {
      name: "expired, but for less than a minute",
      token: ({ claims, now }) => sign(claims({ exp: now - 59 })),
      want: user,
    },
    { name: "valid in less than a minute", token: ({ claims, now }) => sign(claims({ nbf: now + 59 })), want: user },
  ])("$name", async ({ token, want }) => {
    const w = world();
    expect(await w.authenticate(await token(w), OWN)).toEqual({ user: want, audiences: OWN });
  });

  it("without a kid is found out by trying all keys", async () => {
    const { claims, authenticate } = world();
    const { CompactSign } = await import("jose");
    const bytes = Buffer.from(JSON.stringify(claims()));
    const token = await new CompactSign(bytes).setProtectedHeader({ alg: "ES256" }).sign(old.privateKey);
    expect(await authenticate(token, OWN)).toMatchObject({ user: { name: user.name } });
  });

  it("tells of one that should have been renewed", async () => {
    const { claims, authenticate, now, counted } = world();
    const token = await sign(claims({}, { pod: ref(pod), warnafter: now - 100 }));
    expect(await authenticate(token, OWN)).toMatchObject({
      annotations: {
        "authentication.k8s.io/stale-token":
          "subject: system:serviceaccount:ns:sa, seconds after warning threshold: 100",
      },
    });
    await authenticate(await sign(claims({}, { warnafter: now + 100 })), OWN);
    await authenticate(await sign(claims()), OWN);
    expect(counted()).toEqual(["serviceaccount_stale_tokens_total 1", "serviceaccount_valid_tokens_total 1"]);
  });

  it("is known as soon as another server has made its account", async () => {
    const { claims, authenticate, objects } = world();
    objects.remove("serviceaccounts", "ns", "sa").putElsewhere("serviceaccounts", account);
    expect(await authenticate(await sign(claims()), OWN)).toMatchObject({ user: { name: user.name } });
  });
});

describe("tokens that are refused", () => {
  const BAD = "go-jose/go-jose: error in cryptographic primitive";
  const UNSUPPORTED = "go-jose/go-jose: unsupported cryptographic primitive";
  const UNKNOWN_KEY = "invalid signature, no keys found";
  const publicPem = key.key.export({ type: "spki", format: "pem" }).toString();
  const hmac = (secretBytes: string) => (input: string) =>
    createHmac("sha256", secretBytes).update(input).digest("base64url");
  const es = { alg: "ES256", kid: key.id };

  it.each<{ name: string; token: (w: World) => string | Promise<string>; want: string }>([
    {
      name: "expired",
      token: ({ claims, now }) => sign(claims({ exp: now - 61 })),
      want: "service account token has expired",
    },
    {
      name: "not yet valid",
      token: ({ claims, now }) => sign(claims({ nbf: now + 61 })),
      want: "service account token claims could not be validated",
    },
    {
      name: "issued in the future",
      token: ({ claims, now }) => sign(claims({ iat: now + 3600 })),
      want: "service account token claims could not be validated",
    },
    {
      name: "with a time that is none",
      token: ({ claims }) => sign(claims({ exp: "never" })),
      want: "service account token claims could not be validated",
    },
    {
      name: "for another audience",
      token: ({ claims }) => sign(claims({ aud: ["vault"] })),
      want: `token audiences ["vault"] is invalid for the target audiences ["${ISSUER}"]`,
    },
    { name: "of a key that nobody has named", token: ({ claims }) => sign(claims(), stranger), want: UNKNOWN_KEY },
    {
      name: "of such a key that bears the id of another",
      token: ({ claims }) => sign(claims(), { ...stranger, id: key.id }),
      want: BAD,
    },
    {
      name: "of such a key without an id",
      token: async ({ claims }) => {
        const { CompactSign } = await import("jose");
        const bytes = Buffer.from(JSON.stringify(claims()));
        return new CompactSign(bytes).setProtectedHeader({ alg: "ES256" }).sign(stranger.privateKey);
      },
      want: `${BAD}|${UNSUPPORTED}`,
    },
    {
      name: "tampered with",
      token: async ({ claims }) => {
        const [header, , signature] = (await sign(claims())).split(".");
        const other = Buffer.from(JSON.stringify(claims({ sub: "system:serviceaccount:kube-system:admin" })));
        return `${header}.${other.toString("base64url")}.${signature}`;
      },
      want: BAD,
    },
    { name: "not signed at all", token: ({ claims }) => forged({ alg: "none" }, claims()), want: UNSUPPORTED },
    {
      name: "not signed, by a key's name",
      token: ({ claims }) => forged({ alg: "none", kid: key.id }, claims()),
      want: UNSUPPORTED,
    },
    {
      name: "signed with the public key as a secret",
      token: ({ claims }) => forged({ alg: "HS256", kid: key.id }, claims(), hmac(publicPem)),
      want: UNSUPPORTED,
    },
    {
      name: "an EC signature that calls itself RSA",
      token: async ({ claims }) => {
        const [, payload, signature] = (await sign(claims())).split(".");
        const header = Buffer.from(JSON.stringify({ alg: "RS256", kid: key.id })).toString("base64url");
        return `${header}.${payload}.${signature}`;
      },
      want: UNSUPPORTED,
    },
    {
      name: "an RSA signature for an EC key's name",
      token: ({ claims }) => sign(claims(), { ...rsaKey, id: key.id }),
      want: UNSUPPORTED,
    },
    { name: "an empty signature", token: ({ claims }) => forged(es, claims()), want: BAD },
    {
      name: "a key's name that is a path",
      token: ({ claims }) => forged({ alg: "ES256", kid: "../../../../dev/null" }, claims(), "AAAA"),
      want: UNKNOWN_KEY,
    },
    {
      name: "a key's name like a property of objects",
      token: ({ claims }) => forged({ alg: "ES256", kid: "__proto__" }, claims(), "AAAA"),
      want: UNKNOWN_KEY,
    },
    {
      name: "a key of its own in the header",
      token: async ({ claims }) => {
        const { CompactSign } = await import("jose");
        const jwk = stranger.key.export({ format: "jwk" }) as { kty: string };
        const bytes = Buffer.from(JSON.stringify(claims()));
        return new CompactSign(bytes).setProtectedHeader({ alg: "ES256", kid: key.id, jwk }).sign(stranger.privateKey);
      },
      want: BAD,
    },
    {
      name: "without an account",
      token: ({ claims }) => sign(claims({ "kubernetes.io": {} })),
      want: 'serviceaccounts "" not found',
    },
  ])("$name", async ({ token, want }) => {
    const w = world();
    const verdict = await w.authenticate(await token(w), OWN);
    expect(verdict).toEqual({ refused: want.split("|") });
  });

  it.each<{ name: string; token: (w: World) => string | Promise<string> }>([
    { name: "of another issuer", token: ({ claims }) => sign(claims({ iss: "https://elsewhere" })) },
    { name: "of no issuer", token: ({ claims }) => sign(omit(claims(), "iss")) },
    { name: "that is no JWT", token: () => "a.b.c" },
    { name: "of four parts", token: async ({ claims }) => `${await sign(claims())}.x` },
    { name: "as JSON", token: ({ claims }) => JSON.stringify(claims()) },
    { name: "with other letters than base64url's", token: async ({ claims }) => `${await sign(claims())}=` },
    { name: "of a megabyte", token: ({ claims }) => sign(claims({ padding: "x".repeat(1 << 20) })) },
    {
      name: "with a header field that must be understood",
      token: ({ claims }) => forged({ ...es, crit: ["b64"], b64: false }, claims(), "AAAA"),
    },
    { name: "of a megabyte of dots", token: () => ".".repeat(1 << 20) },
  ])("has no opinion on one $name", async ({ token }) => {
    const w = world();
    expect(await w.authenticate(await token(w), OWN)).toBeUndefined();
  });
});

describe("what a token hangs on", () => {
  const INVALIDATED = "service account token has been invalidated";
  const gone = <T extends { metadata: object }>(object: T, ms: number) => ({
    ...object,
    metadata: { ...object.metadata, deletionTimestamp: new Date(ms).toISOString().replace(/\.\d+Z/, "Z") },
  });
  it.each<{ name: string; bound: JsonObject; change: (w: World) => void; want: string }>([
    {
      name: "the account is gone",
      bound: {},
      change: ({ objects }) => objects.remove("serviceaccounts", "ns", "sa"),
      want: 'serviceaccounts "sa" not found',
    },
    {
      name: "the account was made anew",
      bound: {},
      change: ({ objects }) => objects.put("serviceaccounts", { metadata: { ...account.metadata, uid: "u-2" } }),
      want: "service account UID (u-2) does not match claim (u-sa)",
    },
    {
      name: "the account was deleted more than a minute ago",
      bound: {},
      change: ({ objects, clock }) => objects.put("serviceaccounts", gone(account, clock.now() - 61_000)),
      want: "service account ns/sa has been deleted",
    },
    {
      name: "the pod is gone",
      bound: { pod: ref(pod) },
      change: ({ objects }) => objects.remove("pods", "ns", "web"),
      want: INVALIDATED,
    },
    {
      name: "the pod was made anew",
      bound: { pod: ref(pod) },
      change: ({ objects }) => objects.put("pods", { metadata: { ...pod.metadata, uid: "u-2" } }),
      want: "pod UID (u-2) does not match service account pod ref claim (u-pod)",
    },
    {
      name: "the pod should have ended more than a minute ago",
      bound: { pod: ref(pod) },
      change: ({ objects, clock }) => objects.put("pods", gone(pod, clock.now() - 61_000)),
      want: INVALIDATED,
    },
    {
      name: "the secret is gone",
      bound: { secret: ref(secret) },
      change: ({ objects }) => objects.remove("secrets", "ns", "s"),
      want: INVALIDATED,
    },
    {
      name: "the node is gone",
      bound: { node: ref(node) },
      change: ({ objects }) => objects.remove("nodes", "", "n1"),
      want: INVALIDATED,
    },
    {
      name: "the node was made anew",
      bound: { node: ref(node) },
      change: ({ objects }) => objects.put("nodes", { metadata: { name: "n1", uid: "u-2" } }),
      want: "node UID (u-2) does not match service account node ref claim (u-node)",
    },
  ])("$name", async ({ bound, change, want }) => {
    const w = world();
    const token = await sign(w.claims({}, bound));
    expect(await w.authenticate(token, OWN)).toMatchObject({ user: {} });
    change(w);
    expect(await w.authenticate(token, OWN)).toEqual({ refused: [want] });
  });

  it("a pod that ends may speak until a minute after its time", async () => {
    const w = world();
    const token = await sign(w.claims({}, { pod: ref(pod) }));
    w.objects.put("pods", gone(pod, w.clock.now() + 30_000));
    await w.clock.advance(90_000);
    expect(await w.authenticate(token, OWN)).toMatchObject({ user: {} });
    await w.clock.advance(1_000);
    expect(await w.authenticate(token, OWN)).toEqual({ refused: [INVALIDATED] });
  });

  it("the node of a pod's token need not be there", async () => {
    const w = world();
    w.objects.remove("nodes", "", "n1");
    const token = await sign(w.claims({}, { pod: ref(pod), node: ref(node) }));
    expect(await w.authenticate(token, OWN)).toMatchObject({ user: {} });
  });

  it("its time, though its signature is remembered", async () => {
    const w = world();
    const token = await sign(w.claims());
    expect(await w.authenticate(token, OWN)).toMatchObject({ user: {} });
    await w.clock.advance(3_661_000);
    expect(await w.authenticate(token, OWN)).toEqual({ refused: ["service account token has expired"] });
  });
});

describe("audiences of a review", () => {
  it.each([
    { aud: ["vault", "other"], asked: ["vault"], want: { audiences: ["vault"] } },
    {
      aud: OWN,
      asked: ["vault"],
      want: { refused: [`token audiences ["${ISSUER}"] is invalid for the target audiences ["vault"]`] },
    },
    {
      aud: [],
      asked: OWN,
      want: { audiences: OWN, annotations: { "authentication.k8s.io/legacy-token": "system:serviceaccount:ns:sa" } },
    },
  ])("a token for $aud asked about for $asked", async ({ aud, asked, want }) => {
    const w = world();
    expect(await w.authenticate(await sign(w.claims({ aud })), asked)).toMatchObject(want);
  });
});

describe("files of keys", () => {
  const pem = (of: SigningKey) => of.key.export({ type: "spki", format: "pem" }).toString();
  it("may hold several, private ones too", () => {
    const file = pem(key) + pem(rsaKey) + old.privateKey.export({ type: "sec1", format: "pem" }).toString();
    const found = verificationKeys(file, "keys.pem");
    expect(found.map(({ id, algorithm }) => [id, algorithm])).toEqual([
      [key.id, "ES256"],
      [rsaKey.id, "RS256"],
      [old.id, "ES256"],
    ]);
  });

  const ed = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" }).toString();
  it.each([
    ["", "keys.pem holds no key in PEM."],
    ["-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "keys.pem holds something that is not a key: "],
    [ed, "keys.pem holds a key of type ed25519: RSA, or EC on P-256, P-384 or P-521, is needed."],
  ])("that cannot be used are named %#", (text, want) => {
    expect(() => verificationKeys(text, "keys.pem")).toThrow(want);
  });
});

function omit<T extends object>(object: T, key: string): T {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key)) as T;
}
