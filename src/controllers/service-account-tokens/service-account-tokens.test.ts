import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, StatusError } from "#api";
import { testControllers } from "../testing/index.ts";
import { serviceAccountTokens } from "./index.ts";
import { filled } from "./plan.ts";

const encode = (text: string) => Buffer.from(text).toString("base64");
const options = { caPem: "CA", sign: async (claims: object) => JSON.stringify(claims) };
const account: core.ServiceAccount = { metadata: { name: "bot", namespace: "default", uid: "u1" } };
const secret = (over: Partial<core.Secret> = {}): core.Secret => ({
  metadata: { name: "t", namespace: "default", annotations: { "kubernetes.io/service-account.name": "bot" } },
  type: "kubernetes.io/service-account-token",
  ...over,
});

describe("what a token's Secret gets", () => {
  it("is a token with the claims of its account, the authority and the namespace", async () => {
    const { data, metadata } = (await filled(secret(), account, options)) ?? {};
    expect(metadata?.annotations?.["kubernetes.io/service-account.uid"]).toBe("u1");
    expect(data).toMatchObject({ "ca.crt": encode("CA"), namespace: encode("default") });
    expect(JSON.parse(Buffer.from(data?.token ?? "", "base64").toString())).toEqual({
      iss: "kubernetes/serviceaccount",
      sub: "system:serviceaccount:default:bot",
      "kubernetes.io/serviceaccount/namespace": "default",
      "kubernetes.io/serviceaccount/secret.name": "t",
      "kubernetes.io/serviceaccount/service-account.name": "bot",
      "kubernetes.io/serviceaccount/service-account.uid": "u1",
    });
  });

  it("is nothing, once it has all", async () => {
    const once = await filled(secret(), account, options);
    expect(once && (await filled(once, account, options))).toBeUndefined();
  });

  it("is a new authority with the token that it had", async () => {
    const once = await filled(secret(), account, options);
    const again = once && (await filled(once, account, { ...options, caPem: "NEW" }));
    expect(again?.data).toEqual({ ...once?.data, "ca.crt": encode("NEW") });
  });

  it("is nothing, if it was marked as invalid", async () => {
    const labels = { "kubernetes.io/legacy-token-invalid-since": "2030-01-01" };
    expect(await filled(secret({ metadata: { ...secret().metadata, labels } }), account, options)).toBeUndefined();
  });
});

describe("at work", () => {
  const open: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });
  const start = async () => {
    const running = await testControllers([serviceAccountTokens(options)]);
    open.push(() => running.close());
    const accounts = running.client.of(kinds.ServiceAccount).in("default");
    const secrets = running.client.of(kinds.Secret).in("default");
    const request = () => secrets.create({ ...secret(), metadata: { ...secret().metadata } });
    return { ...running, accounts, secrets, request };
  };

  it("fills in a Secret, deletes it with its account, and does not give it to the next of that name", async () => {
    const { accounts, secrets, request, settle } = await start();
    await accounts.create({ metadata: { name: "bot" } });
    await request();
    await settle();
    expect((await secrets.get("t")).data?.token).toBeDefined();
    await accounts.delete("bot");
    await accounts.create({ metadata: { name: "bot" } });
    await settle();
    expect((await secrets.list()).items).toEqual([]);
  });

  it("deletes a Secret whose account was never there", async () => {
    const { secrets, request, settle } = await start();
    await request();
    await settle();
    expect((await secrets.list()).items).toEqual([]);
  });

  it("deletes nothing because a question fails; and writes nothing once all is done", async () => {
    const { accounts, secrets, request, settle, refuse, clock, writes } = await start();
    refuse(({ path }) =>
      path.includes("/serviceaccounts/") ? new StatusError("InternalError", "not now", { code: 500 }) : undefined,
    );
    await request();
    await settle();
    expect((await secrets.list()).items).toHaveLength(1);
    await accounts.create({ metadata: { name: "bot" } });
    await clock.advance(60_000);
    await settle();
    expect((await secrets.get("t")).data?.token).toBeDefined();
    const before = writes();
    await clock.advance(3_600_000);
    await settle();
    expect(writes()).toBe(before);
  });
});
