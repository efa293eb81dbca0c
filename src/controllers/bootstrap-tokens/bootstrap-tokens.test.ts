import { createHmac } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { testControllers } from "../testing/index.ts";
import { bootstrapSigner, tokenCleaner } from "./index.ts";
import { detachedSignature } from "./signature.ts";
import { planSignatures } from "./signer.ts";

const HOUR_MS = 3_600_000;
const encode = (text: string) => Buffer.from(text).toString("base64");
const base: Readonly<Record<string, string>> = {
  "token-id": "abcdef",
  "token-secret": "0123456789abcdef",
  "usage-bootstrap-signing": "true",
};
const token = (over: Readonly<Record<string, string>> = {}, name = "bootstrap-token-abcdef"): core.Secret => ({
  metadata: { name, namespace: "kube-system" },
  type: "bootstrap.kubernetes.io/token",
  data: Object.fromEntries(Object.entries({ ...base, ...over }).map(([key, value]) => [key, encode(value)])),
});
const info = (data: Readonly<Record<string, string>> = { kubeconfig: "text" }): core.ConfigMap => ({
  metadata: { name: "cluster-info", namespace: "kube-public" },
  data,
});

describe("a signature without its payload", () => {
  it("can be checked by whoever has payload and token", () => {
    const [header = "", payload, signature] = detachedSignature("text", { id: "abcdef", secret: "s" }).split(".");
    expect(payload).toBe("");
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({ alg: "HS256", kid: "abcdef" });
    const signed = `${header}.${Buffer.from("text").toString("base64url")}`;
    expect(signature).toBe(createHmac("sha256", "s").update(signed).digest("base64url"));
  });
});

describe("which tokens sign", () => {
  const now = Date.parse("2030-01-01T00:00:00Z");
  it.each([
    { name: "one that is for signing", given: token(), signs: true },
    { name: "one that expires later", given: token({ expiration: "2030-01-01T01:00:00Z" }), signs: true },
    { name: "one that has expired", given: token({ expiration: "2029-12-31T00:00:00Z" }), signs: false },
    { name: "one whose expiry nobody can read", given: token({ expiration: "soon" }), signs: false },
    { name: "one that is not for signing", given: token({ "usage-bootstrap-signing": "false" }), signs: false },
    { name: "one without a secret", given: token({ "token-secret": "" }), signs: false },
    { name: "one under another's name", given: token({}, "bootstrap-token-fedcba"), signs: false },
  ])("$name: $signs", ({ given, signs }) => {
    const [write] = planSignatures(info(), [given], now)?.steps?.[0] ?? [];
    const data = (write?.object as core.ConfigMap | undefined)?.data ?? {};
    expect("jws-kubeconfig-abcdef" in data).toBe(signs);
  });

  it("signatures of tokens that are gone are removed", () => {
    const [write] = planSignatures(info({ kubeconfig: "text", "jws-kubeconfig-old": "x" }), [], now)?.steps?.[0] ?? [];
    expect((write?.object as core.ConfigMap | undefined)?.data).toEqual({ kubeconfig: "text" });
  });

  it("nothing is signed where there is nothing to sign", () => {
    expect(planSignatures(undefined, [token()], now)).toBeUndefined();
    expect(planSignatures(info({}), [token()], now)).toBeUndefined();
  });
});

describe("at work", () => {
  const open: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  it("signs anew when content or tokens change, and removes a token when its time is over", async () => {
    const running = await testControllers([bootstrapSigner, tokenCleaner], {
      selection: ["*", "bootstrap-signer-controller", "token-cleaner-controller"],
    });
    open.push(() => running.close());
    const { client, settle, clock, writes } = running;
    const infos = client.of(kinds.ConfigMap).in("kube-public");
    const secrets = client.of(kinds.Secret).in("kube-system");
    await infos.create({ ...info(), metadata: { name: "cluster-info" } });
    const expiration = new Date(clock.now() + HOUR_MS).toISOString().replace(/\.\d+Z/, "Z");
    const { data, type } = token({ expiration });
    await secrets.create({
      metadata: { name: "bootstrap-token-abcdef" },
      ...(data && { data }),
      ...(type && { type }),
    });
    await settle();
    const signed = await infos.get("cluster-info");
    const signature = (text: string) => detachedSignature(text, { id: "abcdef", secret: "0123456789abcdef" });
    expect(signed.data?.["jws-kubeconfig-abcdef"]).toBe(signature("text"));
    await infos.update({ ...signed, data: { ...signed.data, kubeconfig: "other" } });
    await settle();
    expect((await infos.get("cluster-info")).data?.["jws-kubeconfig-abcdef"]).toBe(signature("other"));
    const before = writes();
    await clock.advance(HOUR_MS - 60_000);
    await settle();
    expect(writes()).toBe(before);
    await clock.advance(2 * 60_000);
    await settle();
    expect((await secrets.list()).items).toEqual([]);
    expect((await infos.get("cluster-info")).data).toEqual({ kubeconfig: "other" });
  });
});
