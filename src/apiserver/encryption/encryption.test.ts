import { afterEach, describe, expect, it } from "vitest";
import { type LogFields, type Logger, silentLogger, VirtualClock } from "#base";
import { openMemoryStore, type Store } from "#store";
import { type TestServer, testServer } from "../testing/index.ts";
import { parseEncryptionConfiguration } from "./configuration.ts";
import { Encryption } from "./encryption.ts";

const SECRETS = "/api/v1/namespaces/default/secrets";
const KEY = "/registry/core/secrets/default/";
const key = (byte: number) => Buffer.alloc(32, byte).toString("base64");

function configuration(entries: readonly (readonly [resources: string, providers: readonly object[]])[]) {
  const resources = entries.map(([names, providers]) => ({ resources: names.split(","), providers }));
  const document = { kind: "EncryptionConfiguration", apiVersion: "apiserver.config.k8s.io/v1", resources };
  return parseEncryptionConfiguration(JSON.stringify(document), "test");
}

function keyed(type: string, ...keys: readonly (readonly [name: string, byte: number])[]): object {
  return { [type]: { keys: keys.map(([name, byte]) => ({ name, secret: key(byte) })) } };
}

const identity = { identity: {} };

interface Cluster extends TestServer {
  readonly raw: Store;
  readonly encryption: Encryption;
  readonly errors: readonly LogFields[];
}

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function cluster(
  settings: ReturnType<typeof configuration>,
  { raw, clock = new VirtualClock() }: { readonly raw?: Store; readonly clock?: VirtualClock } = {},
): Promise<Cluster> {
  const errors: LogFields[] = [];
  const log: Logger = { ...silentLogger, error: (_, fields) => errors.push(fields ?? {}) };
  const below = raw ?? openMemoryStore({ clock });
  if (raw === undefined) opened.push(below);
  const encryption = await Encryption.open(settings, { clock, log, newUid: () => "uid" });
  opened.push(encryption);
  const store = encryption.over(below);
  const server = await testServer({ store, clock, isOutdated: (at) => encryption.isOutdated(at) });
  opened.push(server);
  return { ...server, raw: below, encryption, errors };
}

const secret = (name: string, value = "s3cr3t") => ({
  body: { kind: "Secret", apiVersion: "v1", metadata: { name }, stringData: { password: value } },
});
const kept = async ({ raw }: { readonly raw: Store }, at: string) =>
  (await raw.get(at))?.value.toString("latin1") ?? "";

describe("values in the store", () => {
  for (const type of ["aescbc", "aesgcm", "secretbox"]) {
    it(`are encrypted with ${type}, under the name of the key, and read again by another server`, async () => {
      const settings = configuration([["secrets", [keyed(type, ["key1", 1]), identity]]]);
      const one = await cluster(settings);
      expect((await one.request("POST", SECRETS, secret("a"))).status).toBe(201);
      const stored = await kept(one, `${KEY}a`);
      expect(stored.startsWith(`k8s:enc:${type}:v1:key1:`)).toBe(true);
      expect(stored).not.toContain("password");
      const two = await cluster(settings, one);
      const answer = await two.request("GET", `${SECRETS}/a`);
      expect(answer.json).toMatchObject({ data: { password: Buffer.from("s3cr3t").toString("base64") } });
    });
  }

  it("of two writes of the same object differ", async () => {
    const server = await cluster(configuration([["secrets", [keyed("aesgcm", ["key1", 1])]]]));
    await server.request("POST", SECRETS, secret("a"));
    const before = await kept(server, `${KEY}a`);
    await server.request("DELETE", `${SECRETS}/a`);
    await server.request("POST", SECRETS, secret("a"));
    expect(await kept(server, `${KEY}a`)).not.toBe(before);
  });

  it("of resources that nothing is said about stay as they are, and so do those of an identity provider", async () => {
    const server = await cluster(
      configuration([
        ["secrets", [identity, keyed("aesgcm", ["key1", 1])]],
        ["*.apps", [keyed("secretbox", ["key1", 1])]],
      ]),
    );
    await server.request("POST", SECRETS, secret("a"));
    const map = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "m" } };
    await server.request("POST", "/api/v1/namespaces/default/configmaps", { body: map });
    expect(await kept(server, `${KEY}a`)).toMatch(/^\{"kind":"Secret"/);
    expect(await kept(server, "/registry/core/configmaps/default/m")).toMatch(/^\{"kind":"ConfigMap"/);
  });

  const wildcards = [
    { rule: "*.", encrypted: true },
    { rule: "*.*", encrypted: true },
    { rule: "*.apps", encrypted: false },
    { rule: "configmaps", encrypted: false },
  ];
  for (const { rule, encrypted } of wildcards) {
    it(`of Secrets are ${encrypted ? "" : "not "}encrypted by ${rule}`, async () => {
      const server = await cluster(configuration([[rule, [keyed("aescbc", ["key1", 1])]]]));
      await server.request("POST", SECRETS, secret("a"));
      expect((await kept(server, `${KEY}a`)).startsWith("k8s:enc:aescbc:v1:key1:")).toBe(encrypted);
    });
  }

  it("reach watchers decrypted, also when another server writes them", async () => {
    const settings = configuration([["secrets", [keyed("aesgcm", ["key1", 1])]]]);
    const one = await cluster(settings);
    const two = await cluster(settings, one);
    const watch = await two.watch(`${SECRETS}?watch=1`);
    await one.request("POST", SECRETS, secret("a"));
    expect(await watch.seen()).toEqual(["ADDED a"]);
    expect(watch.events[0]).toMatchObject({ object: { data: { password: expect.any(String) } } });
    await watch.close();
  });
});

describe("rotation", () => {
  const first = keyed("aescbc", ["key1", 1]);
  const both = keyed("aescbc", ["key2", 2], ["key1", 1]);

  it("writes with the first key and reads with all; replacing every object moves it to the first", async () => {
    const server = await cluster(configuration([["secrets", [first]]]));
    for (const name of ["a", "b"]) await server.request("POST", SECRETS, secret(name));
    await server.encryption.configure(configuration([["secrets", [both]]]));
    const list = (await server.request("GET", SECRETS)).json as { items: { metadata: { name: string } }[] };
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
    for (const item of list.items) {
      const body = { kind: "Secret", apiVersion: "v1", ...item };
      expect((await server.request("PUT", `${SECRETS}/${item.metadata.name}`, { body })).status).toBe(200);
      expect(await kept(server, KEY + item.metadata.name)).toMatch(/^k8s:enc:aescbc:v1:key2:/);
    }
    await server.encryption.configure(configuration([["secrets", [keyed("aescbc", ["key2", 2])]]]));
    const after = await cluster(configuration([["secrets", [keyed("aescbc", ["key2", 2])]]]), server);
    expect((await after.request("GET", `${SECRETS}/b`)).status).toBe(200);
  });

  it("to another provider, and back to none, goes the same way", async () => {
    const server = await cluster(configuration([["secrets", [identity]]]));
    const created = await server.request("POST", SECRETS, secret("a"));
    const replace = () => server.request("PUT", `${SECRETS}/a`, { body: withoutVersion(created.json) });
    await server.encryption.configure(configuration([["secrets", [keyed("secretbox", ["k", 3]), identity]]]));
    await replace();
    expect(await kept(server, `${KEY}a`)).toMatch(/^k8s:enc:secretbox:v1:k:/);
    await server.encryption.configure(configuration([["secrets", [identity, keyed("secretbox", ["k", 3])]]]));
    await replace();
    expect(await kept(server, `${KEY}a`)).toMatch(/^\{/);
  });

  it("leaves what is up to date alone: an update that changes nothing writes nothing", async () => {
    const server = await cluster(configuration([["secrets", [first]]]));
    const created = await server.request("POST", SECRETS, secret("a"));
    const before = await server.raw.revision();
    await server.request("PUT", `${SECRETS}/a`, { body: withoutVersion(created.json) });
    expect(await server.raw.revision()).toBe(before);
  });
});

describe("a value that cannot be read", () => {
  const good = configuration([["secrets", [keyed("aesgcm", ["key1", 1])]]]);
  const cases = [
    {
      name: "because its bytes were changed",
      settings: good,
      spoil: (value: Buffer) => flipped(value, value.length - 1),
      why: "cipher: message authentication failed",
    },
    {
      name: "because it was moved to another key",
      settings: good,
      spoil: (_: Buffer, other: Buffer) => other,
      why: "cipher: message authentication failed",
    },
    {
      name: "because it was cut off",
      settings: good,
      spoil: (value: Buffer) => value.subarray(0, "k8s:enc:aesgcm:v1:key1:".length + 20),
      why: "the stored data was shorter than the required size",
    },
    {
      name: "because its key has another secret now",
      settings: configuration([["secrets", [keyed("aesgcm", ["key1", 9])]]]),
      spoil: (value: Buffer) => value,
      why: "cipher: message authentication failed",
    },
    {
      name: "because its key is not there any more",
      settings: configuration([["secrets", [keyed("aesgcm", ["key2", 1])]]]),
      spoil: (value: Buffer) => value,
      why: "no matching key was found for the provided AES transformer",
    },
    {
      name: "because its provider is not there any more",
      settings: configuration([["secrets", [keyed("secretbox", ["key1", 1])]]]),
      spoil: (value: Buffer) => value,
      why: "no matching prefix found",
    },
    {
      name: "because nothing is configured for its resource",
      settings: configuration([["configmaps", [keyed("aesgcm", ["key1", 1])]]]),
      spoil: (value: Buffer) => value,
      why: "identity transformer tried to read encrypted data",
    },
  ];
  for (const { name, settings, spoil, why } of cases) {
    it(`${name} is an error that says so, and only that object's`, async () => {
      const one = await cluster(good);
      for (const each of ["a", "b"]) await one.request("POST", SECRETS, secret(each));
      const [a, b] = [await one.raw.get(`${KEY}a`), await one.raw.get(`${KEY}b`)];
      if (a === undefined || b === undefined) throw new Error("nothing was stored");
      await one.raw.update(`${KEY}a`, Buffer.from(spoil(a.value, b.value)), a.revision);
      const two = await cluster(settings, one);
      const answer = await two.request("GET", `${SECRETS}/a`);
      expect(answer.status).toBe(500);
      const message = `Internal error occurred: unable to transform key "${KEY}a": ${why}`;
      expect(answer.json).toMatchObject({ reason: "InternalError", message });
      expect((await two.request("GET", SECRETS)).json).toMatchObject({ code: 500 });
      expect(two.errors.filter(({ key: at }) => at === `${KEY}a`)).toHaveLength(1);
      // Others are as they were: of the same namespace, where they have the same key still, and of another.
      if (settings === good) expect((await two.request("GET", `${SECRETS}/b`)).status).toBe(200);
      const elsewhere = "/api/v1/namespaces/kube-system/secrets";
      expect((await two.request("POST", elsewhere, secret("c"))).status).toBe(201);
      expect((await two.request("GET", elsewhere)).json).toMatchObject({ items: [{ metadata: { name: "c" } }] });
    });
  }

  it("because it is not encrypted where everything has to be, is an error as well", async () => {
    const plain = await cluster(configuration([["secrets", [identity]]]));
    await plain.request("POST", SECRETS, secret("a"));
    const server = await cluster(good, plain);
    const { json } = await server.request("GET", `${SECRETS}/a`);
    expect(json).toMatchObject({ code: 500, message: expect.stringContaining("no matching prefix found") });
  });

  it("because encryption was turned off altogether is an error that does not show what is stored", async () => {
    const one = await cluster(good);
    await one.request("POST", SECRETS, secret("a"));
    const off = await testServer({ store: one.raw, clock: one.clock });
    opened.push(off);
    const why = "identity transformer tried to read encrypted data";
    expect((await off.request("GET", `${SECRETS}/a`)).json).toMatchObject({
      code: 500,
      message: `Internal error occurred: unable to transform key "${KEY}a": ${why}`,
    });
  });

  it("ends the watches that are concerned, and no others; they go on when it can be read again", async () => {
    const server = await cluster(good);
    await server.request("POST", SECRETS, secret("a"));
    const concerned = await server.watch(`${SECRETS}?watch=1`);
    const other = await server.watch("/api/v1/namespaces/kube-system/secrets?watch=1");
    expect(await concerned.seen()).toEqual(["ADDED a"]);
    const a = await server.raw.get(`${KEY}a`);
    if (a === undefined) throw new Error("nothing was stored");
    await server.raw.update(`${KEY}a`, Buffer.from(flipped(a.value, a.value.length - 1)), a.revision);
    expect(await concerned.seen()).toEqual(["ADDED a", "ERROR 410"]);
    await server.request("POST", "/api/v1/namespaces/kube-system/secrets", secret("c"));
    expect(await other.seen()).toEqual(["ADDED c"]);
    const spoiled = await server.raw.get(`${KEY}a`);
    await server.raw.update(`${KEY}a`, a.value, spoiled?.revision ?? 0);
    await server.settle();
    expect((await server.request("GET", `${SECRETS}/a`)).status).toBe(200);
    await concerned.close();
    await other.close();
  });

  it("is read when a new configuration has its key", async () => {
    const one = await cluster(good);
    await one.request("POST", SECRETS, secret("a"));
    const two = await cluster(configuration([["secrets", [keyed("aesgcm", ["key2", 2])]]]), one);
    expect((await two.request("GET", `${SECRETS}/a`)).status).toBe(500);
    await two.encryption.configure(configuration([["secrets", [keyed("aesgcm", ["key2", 2], ["key1", 1])]]]));
    await two.settle();
    await two.clock.advance(1_000);
    await two.settle();
    expect((await two.request("GET", `${SECRETS}/a`)).status).toBe(200);
  });
});

function flipped(value: Buffer, at: number): Buffer {
  const changed = Buffer.from(value);
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
}

function withoutVersion(object: unknown): object {
  const { metadata, ...rest } = object as { readonly metadata: { readonly resourceVersion?: string } };
  const { resourceVersion: _, ...left } = metadata;
  return { ...rest, metadata: left };
}
