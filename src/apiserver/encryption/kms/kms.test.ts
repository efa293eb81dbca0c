import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { settled, silentLogger, VirtualClock } from "#base";
import { openMemoryStore, type Store } from "#store";
import { testServer } from "../../testing/index.ts";
import { parseEncryptionConfiguration } from "../configuration.ts";
import { Encryption } from "../encryption.ts";
import { expanded, seeded } from "./seed.ts";
import { type TestPlugin, testPlugin } from "./testing.ts";
import { encryptedObject } from "./wire.ts";

const SECRETS = "/api/v1/namespaces/default/secrets";
const KEY = "/registry/core/secrets/default/";
const PREFIX = "k8s:enc:kms:v2:vault:";
const secret = (name: string) => ({
  body: { kind: "Secret", apiVersion: "v1", metadata: { name }, stringData: { password: "s3cr3t" } },
});

let plugin: TestPlugin;
let raw: Store;
let clock: VirtualClock;
const opened: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  clock = new VirtualClock();
  plugin = await testPlugin();
  raw = openMemoryStore({ clock });
  opened.push(plugin, raw);
});
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

function settings({ endpoint }: TestPlugin = plugin, timeout = "1h") {
  const providers = [{ kms: { apiVersion: "v2", name: "vault", endpoint, timeout } }, { identity: {} }];
  const resources = [{ resources: ["secrets"], providers }];
  const document = { kind: "EncryptionConfiguration", apiVersion: "apiserver.config.k8s.io/v1", resources };
  return parseEncryptionConfiguration(JSON.stringify(document), "test");
}

async function cluster() {
  const encryption = await Encryption.open(settings(), { clock, log: silentLogger, newUid: () => "uid" });
  const server = await testServer({
    store: encryption.over(raw),
    clock,
    isOutdated: (at) => encryption.isOutdated(at),
  });
  opened.push(encryption, server);
  return { ...server, encryption };
}

async function kept(name: string) {
  const value = (await raw.get(KEY + name))?.value ?? Buffer.alloc(0);
  expect(value.toString("latin1")).toMatch(new RegExp(`^${PREFIX}`));
  return encryptedObject.decode(value.subarray(PREFIX.length));
}

/** Lets virtual time go on, and real sockets do their work, until it is so. */
async function until(check: () => void | Promise<void>) {
  await vi.waitFor(async () => {
    await settled();
    await check();
  }, 60_000);
}

describe("values under a KMS plugin", () => {
  it("are encrypted with this server's seed, which the plugin is asked to encrypt once", async () => {
    const server = await cluster();
    for (const name of ["a", "b", "c"]) expect((await server.request("POST", SECRETS, secret(name))).status).toBe(201);
    expect(plugin.calls).toEqual(["Status", "Encrypt"]);
    const [a, b] = [await kept("a"), await kept("b")];
    expect(a).toMatchObject({ keyId: "key-1", encryptedDekSourceType: 1 });
    expect(a.encryptedDekSource.equals(b.encryptedDekSource)).toBe(true);
    // Each write expands a key of its own from 32 bytes that stand before it.
    expect(a.encryptedData.subarray(0, 32).equals(b.encryptedData.subarray(0, 32))).toBe(false);
  });

  it("are read by another server, which asks the plugin for the seed once", async () => {
    const one = await cluster();
    for (const name of ["a", "b"]) await one.request("POST", SECRETS, secret(name));
    plugin.calls.length = 0;
    const two = await cluster();
    expect((await two.request("GET", SECRETS)).list.names).toEqual(["default/a", "default/b"]);
    expect(plugin.calls.filter((name) => name === "Decrypt")).toHaveLength(1);
  });

  it("move to a new key of the plugin when they are written again", async () => {
    const server = await cluster();
    const created = await server.request("POST", SECRETS, secret("a"));
    plugin.keyId = "key-2";
    await clock.advance(60_000);
    await until(() => expect(server.encryption.isOutdated(`${KEY}a`)).toBe(true));
    expect((await server.request("PUT", `${SECRETS}/a`, { body: created.json })).status).toBe(200);
    expect((await kept("a")).keyId).toBe("key-2");
  });

  it("are written for three minutes without the plugin, and read for as long as the seed is known", async () => {
    const server = await cluster();
    await server.request("POST", SECRETS, secret("a"));
    plugin.down = true;
    await clock.advance(170_000);
    expect((await server.request("POST", SECRETS, secret("b"))).status).toBe(201);
    await clock.advance(20_000);
    const { json } = await server.request("POST", SECRETS, secret("c"));
    expect(json).toMatchObject({
      code: 500,
      message: expect.stringMatching(/^Internal error occurred: encryptedDEKSource/),
    });
    expect((await server.request("GET", `${SECRETS}/a`)).status).toBe(200);
    await expect(server.encryption.health.check()).rejects.toThrow("kmsv2 Provider vault is not healthy");
    plugin.down = false;
    await clock.advance(10_000);
    await until(async () => expect((await server.request("POST", SECRETS, secret("d"))).status).toBe(201));
    await until(() => server.encryption.health.check());
  });

  it("cannot be read while the plugin is away at the start, and can once it is back", async () => {
    const one = await cluster();
    await one.request("POST", SECRETS, secret("a"));
    plugin.down = true;
    const two = await cluster();
    const { json } = await two.request("GET", `${SECRETS}/a`);
    expect(json).toMatchObject({ code: 500, message: expect.stringContaining("failed to decrypt DEK") });
    plugin.down = false;
    await until(async () => {
      await clock.advance(10_000);
      expect((await two.request("GET", `${SECRETS}/a`)).status).toBe(200);
    });
  });

  it("that were changed in the store are an error of that object", async () => {
    const one = await cluster();
    for (const name of ["a", "b"]) await one.request("POST", SECRETS, secret(name));
    const entry = await raw.get(`${KEY}a`);
    const value = Buffer.from(entry?.value ?? "");
    value[PREFIX.length + 40] = (value[PREFIX.length + 40] ?? 0) ^ 1;
    await raw.update(`${KEY}a`, value, entry?.revision ?? 0);
    const two = await cluster();
    expect((await two.request("GET", `${SECRETS}/a`)).status).toBe(500);
    expect((await two.request("GET", `${SECRETS}/b`)).status).toBe(200);
  });
});

describe("a KMS plugin", () => {
  it("that hangs is given up after its timeout", async () => {
    plugin.hangs = true;
    const waiting = Encryption.open(settings(plugin, "3s"), { clock, log: silentLogger, newUid: () => "uid" });
    await expect.poll(() => plugin.calls).toEqual(["Status"]);
    await clock.advance(3_000);
    const encryption = await waiting;
    opened.push(encryption);
    await expect(encryption.health.check()).rejects.toThrow("has not answered Status within 3000 ms");
  });

  it("that says it is not well counts as such", async () => {
    plugin.healthz = "sealed";
    const encryption = await Encryption.open(settings(), { clock, log: silentLogger, newUid: () => "uid" });
    opened.push(encryption);
    await expect(encryption.health.check()).rejects.toThrow("got unexpected healthz status: sealed");
  });

  it("that is not there keeps a new configuration from counting", async () => {
    const server = await cluster();
    const other = await testPlugin();
    opened.push(other);
    other.down = true;
    await expect(server.encryption.configure(settings(other))).rejects.toThrow("is not healthy");
    expect((await server.request("POST", SECRETS, secret("a"))).status).toBe(201);
  });
});

describe("keys from a seed", () => {
  it("are expanded as RFC 5869 says (appendix A.1, its first block)", () => {
    const prk = Buffer.from("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5", "hex");
    const info = Buffer.from("f0f1f2f3f4f5f6f7f8f9", "hex");
    expect(expanded(prk, info).toString("hex")).toBe(
      "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf",
    );
  });

  it("bind a value to its place", () => {
    const cipher = seeded(Buffer.alloc(32, 1));
    const sealed = cipher.seal(Buffer.from("x"), "/a");
    expect(cipher.open(sealed, "/a").toString()).toBe("x");
    expect(() => cipher.open(sealed, "/b")).toThrow("message authentication failed");
  });
});
