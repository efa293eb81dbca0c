import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { MetricsRegistry, settled, silentLogger, VirtualClock } from "#base";
import { signJwt } from "../jwt.ts";
import { authenticationMetrics } from "../metrics.ts";
import { TestObjects } from "../testing/objects.ts";
import { temporaryKey } from "./keys.ts";
import { INVALID_SINCE, LEGACY_ISSUER, legacyTokenJudge } from "./legacy-tokens.ts";
import { signedTokens } from "./tokens.ts";

const key = temporaryKey();
const prefix = "kubernetes.io/serviceaccount/";
const claims = {
  iss: "kubernetes/serviceaccount",
  sub: "system:serviceaccount:ns:sa",
  [`${prefix}namespace`]: "ns",
  [`${prefix}secret.name`]: "sa-token",
  [`${prefix}service-account.name`]: "sa",
  [`${prefix}service-account.uid`]: "u-sa",
};
const sign = (change: Record<string, string> = {}) =>
  signJwt({ ...claims, ...change }, { alg: key.algorithm, kid: key.id }, key.privateKey);
const base64 = (text: string) => Buffer.from(text).toString("base64");

function world(
  token: string,
  { labels = {}, secrets = [] as { name: string }[], failing = false, gate = Promise.resolve(), lookUp = true } = {},
) {
  const clock = new VirtualClock();
  const secret = {
    metadata: { name: "sa-token", namespace: "ns", uid: "u-s", labels },
    data: { token: base64(token) },
  };
  const objects = new TestObjects()
    .put("secrets", secret)
    .put("serviceaccounts", { metadata: { name: "sa", namespace: "ns", uid: "u-sa" }, secrets });
  const noted: string[] = [];
  const noteUse = async ({ metadata }: core.Secret, day: string) => {
    noted.push(`${metadata?.name} ${day}`);
    await gate;
    if (failing) throw new Error("the store is full");
  };
  const metrics = new MetricsRegistry();
  const counts = authenticationMetrics(metrics, clock).accountTokens;
  const judge = legacyTokenJudge({ objects, clock, noteUse, log: silentLogger, lookUp, counts });
  const authenticate = signedTokens({ keys: [key], audiences: ["api"], counts }, new Map([[LEGACY_ISSUER, judge]]));
  const counted = () => metrics.text().match(/^serviceaccount_\S+ [1-9]\d*$/gm) ?? [];
  return { clock, objects, secret, noted, counted, ask: () => authenticate(token, ["api"]) };
}

describe("tokens that are kept in a Secret", () => {
  const known = {
    user: {
      name: "system:serviceaccount:ns:sa",
      uid: "u-sa",
      groups: ["system:serviceaccounts", "system:serviceaccounts:ns"],
    },
    audiences: ["api"],
    annotations: { "authentication.k8s.io/legacy-token": "system:serviceaccount:ns:sa" },
  };

  it.each([
    { name: "generated", secrets: [{ name: "sa-token" }], want: "legacy_auto_token_uses" },
    { name: "made by hand", secrets: [], want: "legacy_manual_token_uses" },
    { name: "marked invalid", labels: { [INVALID_SINCE]: "2029-01-01" }, want: "invalid_legacy_auto_token_uses" },
  ])("are counted: $name", async ({ want, name: _, ...given }) => {
    const { ask, counted } = world(await sign(), given);
    await ask();
    expect([...counted()].sort()).toEqual(
      ["serviceaccount_legacy_tokens_total 1", `serviceaccount_${want}_total 1`].sort(),
    );
  });

  it("speak for their account, and the day of their use is noted", async () => {
    const { ask, noted } = world(await sign());
    expect(await ask()).toEqual(known);
    expect(noted).toEqual(["sa-token 2030-01-01"]);
  });

  it("are noted once a day, and not at all if that fails", async () => {
    const used = world(await sign(), { labels: { "kubernetes.io/legacy-token-last-used": "2030-01-01" } });
    await used.ask();
    expect(used.noted).toEqual([]);
    expect(await world(await sign(), { failing: true }).ask()).toEqual(known);
  });

  it("are noted once for requests at the same time", async () => {
    const gate = Promise.withResolvers<void>();
    const { ask, noted } = world(await sign(), { gate: gate.promise });
    let answered = 0;
    const asked = [ask(), ask(), ask()].map((each) => each.then(() => answered++));
    // One of them waits for the note, the others need not.
    while (answered < 2) await settled();
    gate.resolve();
    await Promise.all(asked);
    expect(noted).toHaveLength(1);
  });

  it("warn if they were made for their account without being asked for", async () => {
    expect(await world(await sign(), { secrets: [{ name: "sa-token" }] }).ask()).toMatchObject({
      warnings: [expect.stringContaining("auto-generated secret-based tokens")],
    });
  });

  it.each<{ name: string; change: Record<string, string>; want: string }>([
    { name: "no subject", change: { sub: "" }, want: "sub claim is missing" },
    { name: "no namespace", change: { [`${prefix}namespace`]: "" }, want: "namespace claim is missing" },
    { name: "no secret", change: { [`${prefix}secret.name`]: "" }, want: "secretName claim is missing" },
    {
      name: "no account",
      change: { [`${prefix}service-account.name`]: "" },
      want: "serviceAccountName claim is missing",
    },
    { name: "no uid", change: { [`${prefix}service-account.uid`]: "" }, want: "serviceAccountUID claim is missing" },
    { name: "another's subject", change: { sub: "system:serviceaccount:ns:other" }, want: "sub claim is invalid" },
    {
      name: "another uid",
      change: { [`${prefix}service-account.uid`]: "u-2" },
      want: "ServiceAccount UID (u-sa) does not match claim (u-2)",
    },
  ])("with $name are refused", async ({ change, want }) => {
    expect(await world(await sign(change)).ask()).toEqual({ refused: [want] });
  });

  it("end with their Secret, or when it holds another", async () => {
    const { ask, objects, secret } = world(await sign());
    objects.put("secrets", { ...secret, data: { token: base64("other") } });
    expect(await ask()).toEqual({ refused: ["Token does not match server's copy"] });
    objects.remove("secrets", "ns", "sa-token");
    expect(await ask()).toEqual({ refused: ["Token has been invalidated"] });
  });

  it("need neither Secret nor account with --service-account-lookup=false, only their signature", async () => {
    const { ask, objects, noted } = world(await sign(), { lookUp: false });
    objects.remove("secrets", "ns", "sa-token");
    objects.remove("serviceaccounts", "ns", "sa");
    expect(await ask()).toEqual(known);
    expect(noted).toEqual([]);
    expect(await world(await sign({ sub: "" }), { lookUp: false }).ask()).toEqual({
      refused: ["sub claim is missing"],
    });
  });

  it("are refused once they are marked", async () => {
    const marked = world(await sign(), { labels: { "kubernetes.io/legacy-token-invalid-since": "2029-12-01" } });
    expect(await marked.ask()).toMatchObject({
      refused: [
        expect.stringContaining("the token in secret ns/sa-token for service account ns/sa has been marked invalid"),
      ],
    });
  });
});
