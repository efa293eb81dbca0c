import { generateKeyPairSync } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { realClock, seededRandom, silentLogger, VirtualClock } from "#base";
import { authentication } from "../../authentication.ts";
import { type TestSigner, testSigner } from "../../testing/external-signer.ts";
import { TestObjects } from "../../testing/objects.ts";
import { signedTokens } from "../tokens.ts";
import { ExternalSigner } from "./signer.ts";
import { keysResponse, metadataResponse } from "./wire.ts";

const ISSUER = "https://issuer.example.com";
const clock = realClock();
const der = () => generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey.export({ type: "spki", format: "der" });

let remote: TestSigner;
const opened: ExternalSigner[] = [];
beforeEach(async () => {
  remote = await testSigner();
});
afterEach(async () => {
  for (const signer of opened.splice(0)) await signer.close();
  await remote.close();
});

async function open(own: typeof clock | VirtualClock = clock): Promise<ExternalSigner> {
  const signer = await ExternalSigner.open({ socket: remote.socket, clock: own, log: silentLogger });
  opened.push(signer);
  return signer;
}

const judges = new Map([[ISSUER, async () => ({ user: { name: "somebody", groups: [] } })]]);
const verifier = (signer: ExternalSigner) =>
  signedTokens(
    { keys: [], keysFor: (id) => signer.keysFor(id), generation: () => signer.generation, audiences: ["api"] },
    judges,
  );

describe("an external signer", () => {
  it("signs, tells its keys, and how long tokens may live", async () => {
    const signer = await open();
    expect([signer.maxExpirationSeconds, signer.keys.map(({ id, algorithm }) => [id, algorithm])]).toEqual([
      7200,
      [["key-1", "ES256"]],
    ]);
    const token = await signer.sign({ iss: ISSUER, aud: ["api"], sub: "x" });
    const [header, claims] = token.split(".").map((part) => Buffer.from(part, "base64url").toString());
    expect([JSON.parse(header ?? ""), JSON.parse(claims ?? "")]).toEqual([
      { alg: "ES256", kid: "key-1", typ: "JWT" },
      { iss: ISSUER, aud: ["api"], sub: "x" },
    ]);
    expect(await verifier(signer)(token, ["api"])).toMatchObject({ user: { name: "somebody" } });
  });

  it("is asked for its keys when a token names one that is not known", async () => {
    const signer = await open();
    const verify = verifier(signer);
    const [key] = remote.keys;
    remote.header = { ...remote.header, kid: "key-2" };
    expect(await verify(await signer.sign({ iss: ISSUER, aud: ["api"] }), ["api"])).toMatchObject({
      refused: ["invalid signature, no keys found"],
    });
    if (key !== undefined) remote.keys = [{ ...key, id: "key-2" }];
    const token = await signer.sign({ iss: ISSUER, aud: ["api"] });
    expect(await verify(token, ["api"])).toMatchObject({ user: { name: "somebody" } });
    // A key that the signer no longer has verifies nothing, although the token was verified before.
    remote.keys = [{ id: "key-3", der: der(), excludeFromOidcDiscovery: false }];
    await signer.keysFor("key-3");
    expect(await verify(token, ["api"])).toMatchObject({ refused: ["invalid signature, no keys found"] });
  });

  it("is asked for its keys again after its hint, and after ten seconds while it fails", async () => {
    const own = new VirtualClock();
    const signer = await open(own);
    const fetched = () => remote.calls.filter((call) => call === "FetchKeys").length;
    remote.keys = [...remote.keys, { id: "more", der: der(), excludeFromOidcDiscovery: true }];
    await own.advance(60_000);
    await expect.poll(() => signer.keys.map(({ id }) => id)).toEqual(["key-1", "more"]);
    remote.down = true;
    await own.advance(60_000);
    await expect.poll(fetched).toBe(3);
    expect(signer.keys).toHaveLength(2);
    remote.down = false;
    remote.keys = remote.keys.slice(0, 1);
    await expect
      .poll(async () => {
        await own.advance(10_000);
        return signer.keys.length;
      })
      .toBe(1);
  });

  it.each<{ name: string; header?: Record<string, unknown>; excluded?: boolean; why: string }>([
    { name: "another type", header: { typ: "JWE" }, why: "while validating header: bad type" },
    { name: "no key id", header: { kid: "" }, why: "while validating header: key id missing" },
    { name: "a long key id", header: { kid: "k".repeat(1025) }, why: "key id longer than 1 kb" },
    { name: "another algorithm", header: { alg: "PS256" }, why: 'bad signing algorithm "PS256"' },
    { name: "more in its header", header: { crit: ["x"] }, why: 'json: unknown field "crit"' },
    { name: "a key that is not published", excluded: true, why: "(kid: key-1) is excluded from OIDC discovery docs" },
  ])("is refused with $name", async ({ header = {}, excluded = false, why }) => {
    remote.keys = remote.keys.map((key) => ({ ...key, excludeFromOidcDiscovery: excluded }));
    const signer = await open();
    remote.header = { ...remote.header, ...header };
    await expect(signer.sign({ iss: ISSUER })).rejects.toThrow(why);
  });

  it.each<{ name: string; change: Partial<TestSigner>; why: string }>([
    { name: "no keys", change: { keys: [] }, why: "found no keys" },
    { name: "no hint", change: { refreshHintSeconds: -1 }, why: "found invalid refresh hint (-1s)" },
    {
      name: "a key that is none",
      change: { keys: [{ id: "x", der: Buffer.from("x"), excludeFromOidcDiscovery: false }] },
      why: "while parsing external public keys",
    },
    { name: "an error", change: { down: true }, why: "while setting up external-jwt-signer: while initially filling" },
  ])("does not start with $name", async ({ change, why }) => {
    Object.assign(remote, change);
    await expect(open()).rejects.toThrow(why);
  });

  it("is the only one that signs and verifies, and only its published keys are published", async () => {
    remote.keys = [...remote.keys, { id: "earlier", der: der(), excludeFromOidcDiscovery: true }];
    const signer = await open();
    const authn = authentication({
      settings: { serviceAccounts: { issuers: [ISSUER], signer, maxExpirationSeconds: 7200 } },
      clientCa: "",
      objects: new TestObjects(),
      noteUse: async () => {},
      clock,
      random: seededRandom(1),
      log: silentLogger,
    });
    const { keySet, configuration } = authn.documents("https://127.0.0.1");
    expect((keySet.keys as JsonObject[]).map(({ kid }) => kid)).toEqual(["key-1"]);
    expect(configuration.id_token_signing_alg_values_supported).toEqual(["ES256"]);
    expect([authn.issuer.maxExpirationSeconds, authn.issuer.maxExtendedSeconds]).toEqual([7200, 7200]);
    expect((await authn.issuer.sign({})).split(".")).toHaveLength(3);
    await authn.close();
  });
});

describe("its messages", () => {
  it("survive negative numbers and unknown fields, and not truncation", () => {
    expect(metadataResponse.decode(metadataResponse.encode({ maxTokenExpirationSeconds: -5 }))).toEqual({
      maxTokenExpirationSeconds: -5,
    });
    const bytes = keysResponse.encode({ keys: [], dataTimestamp: 7, refreshHintSeconds: 9 });
    const unknown = Buffer.from([0x7a, 2, 1, 2, 0x79, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(keysResponse.decode(Buffer.concat([unknown, bytes]))).toMatchObject({ refreshHintSeconds: 9 });
    expect(() => keysResponse.decode(Buffer.from([0x0a, 9, 1]))).toThrow("unexpected EOF");
  });
});
