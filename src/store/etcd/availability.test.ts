/** What a store says, and how soon, when its etcd cannot be reached, does not answer, or is full. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { createAuthority } from "#pki";
import type { Store } from "../model/store.ts";
import { type EtcdServer, findEtcd, startEtcd, type TlsFiles } from "../testing/etcd-server.ts";
import { WatchReader } from "../testing/index.ts";
import { openEtcdStore } from "./index.ts";

const clock = realClock();
const PATIENCE = { timeout: 60_000, interval: 20 };
const SHORT = { timeoutMs: 2_000 };
const value = Buffer.from("x");

const failure = (call: Promise<unknown>) => call.then(() => undefined).catch((error: unknown) => error);
const directory = () => mkdtemp(join(tmpdir(), "k8ts-etcd-"));
const AMPLE = { timeoutMs: 15_000 };
/** `timing`: short only where the call is to fail by its deadline. */
const open = (endpoints: readonly string[], tls?: Partial<TlsFiles>, timing = SHORT) =>
  openEtcdStore({ endpoints, ...(tls && { tls }), clock, compactionIntervalMs: 0, ...timing });

describe("opening", () => {
  it.each([
    { name: "no endpoints", endpoints: [], message: /one member at least/ },
    { name: "an endpoint without a scheme", endpoints: ["127.0.0.1:2379"], message: /not the URL/ },
    { name: "an endpoint with another scheme", endpoints: ["ftp://127.0.0.1"], message: /not the URL/ },
  ])("rejects $name as a mistake of the caller", async ({ endpoints, message }) => {
    await expect(open(endpoints)).rejects.toThrow(RangeError);
    await expect(open(endpoints)).rejects.toThrow(message);
  });

  it("rejects a certificate without a key as a mistake of the caller", async () => {
    await expect(open(["https://127.0.0.1:1"], { certFile: "x" })).rejects.toThrow(RangeError);
  });

  it("names files that cannot be read", async () => {
    const error = await failure(open(["https://127.0.0.1:1"], { caFile: "/nowhere/ca.crt" }));
    expect(error).toMatchObject({ code: "Unavailable", message: expect.stringContaining("/nowhere/ca.crt") });
  });

  it("names the endpoints, and why, when nothing listens there", async () => {
    const error = await failure(open(["http://127.0.0.1:1", "http://127.0.0.1:2"]));
    expect(error).toMatchObject({ code: "Unavailable", maybeApplied: false });
    expect(String(error)).toMatch(/127\.0\.0\.1:1: nothing listens.*127\.0\.0\.1:2: nothing listens/);
  });
});

describe.skipIf(findEtcd() === undefined)("certificates", () => {
  let etcd: EtcdServer;
  let good: TlsFiles;
  let foreign: TlsFiles;
  let dir: string;
  beforeAll(async () => {
    etcd = await startEtcd({ members: 1, tls: true, dir: await directory() });
    if (etcd.tls === undefined) throw new Error("etcd was started without TLS.");
    good = etcd.tls;
    dir = await directory();
    foreign = { caFile: join(dir, "ca"), certFile: join(dir, "crt"), keyFile: join(dir, "key") };
    const authority = await createAuthority({ commonName: "foreign", clock });
    const pair = await authority.issue({ commonName: "foreign", usages: ["client"] });
    await writeFile(foreign.caFile, authority.certPem);
    await writeFile(foreign.certFile, pair.certPem);
    await writeFile(foreign.keyFile, pair.keyPem);
  });
  afterAll(async () => {
    await etcd?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const cases: readonly { name: string; tls: () => Partial<TlsFiles>; scheme?: string; message: RegExp }[] = [
    {
      name: "a CA that did not sign the server's",
      tls: () => ({ ...good, caFile: foreign.caFile }),
      message: /--etcd-cafile/,
    },
    {
      name: "a client certificate of another CA",
      tls: () => ({ ...foreign, caFile: good.caFile }),
      message: /--etcd-certfile/,
    },
    { name: "no client certificate", tls: () => ({ caFile: good.caFile }), message: /--etcd-certfile/ },
    { name: "http:// where TLS is spoken", tls: () => ({}), scheme: "http", message: /https:\/\/\?/ },
    {
      name: "a key of another certificate",
      tls: () => ({ ...good, keyFile: foreign.keyFile }),
      message: /cannot be used/,
    },
  ];
  it.each(cases)("says what is wrong with $name", async ({ tls, scheme = "https", message }) => {
    const [endpoint = ""] = etcd.endpoints;
    const error = await failure(open([endpoint.replace("https", scheme)], tls()));
    expect(error).toMatchObject({ code: "Unavailable", message: expect.stringMatching(message) });
  });

  it("opens with the right ones", async () => {
    const store = await open(etcd.endpoints, good, AMPLE);
    expect(await store.revision()).toBeGreaterThan(0);
    await store.close();
  });
});

describe.skipIf(findEtcd() === undefined)("an etcd that comes and goes", () => {
  let etcd: EtcdServer;
  let store: Store;
  beforeAll(async () => {
    const flags = ["--quota-backend-bytes", `${4 * 1024 * 1024}`];
    etcd = await startEtcd({ members: 1, tls: false, dir: await directory(), flags });
    store = await open(etcd.endpoints, undefined, AMPLE);
  });
  afterAll(async () => {
    await store?.close();
    await etcd?.stop();
  });
  const works = () => expect.poll(() => failure(store.revision(SHORT)), PATIENCE).toBeUndefined();

  it("leaves it open whether a write happened that was not answered", async () => {
    await store.revision();
    await etcd.pause(0);
    expect(await failure(store.get("/doubt", SHORT))).toMatchObject({ code: "Unavailable", maybeApplied: false });
    etcd.resume(0);
    await works();
    await etcd.pause(0);
    expect(await failure(store.create("/doubt", value, SHORT))).toMatchObject({
      code: "Unavailable",
      maybeApplied: true,
    });
    etcd.resume(0);
    await works();
  });

  it("knows that a write did not happen which had nowhere to go, and goes on by itself when etcd is back", async () => {
    const watch = new WatchReader(store, "/back/", await store.revision());
    const first = watch.changes(1);
    await store.create("/back/a", value);
    await first;
    await etcd.kill(0);
    await expect
      .poll(() => failure(store.create("/back/lost", value, SHORT)), PATIENCE)
      .toMatchObject({ code: "Unavailable", maybeApplied: false });
    const second = watch.changes(2);
    etcd.restart(0);
    await works();
    expect(await store.get("/back/lost")).toBeUndefined();
    expect(await store.create("/back/b", value)).toMatchObject({ ok: true });
    expect((await second).map(({ key }) => key)).toEqual(["/back/a", "/back/b"]);
    await watch.stop();
  });

  it("ends a watch at once, and closes, while etcd is away", async () => {
    const other = await open(etcd.endpoints, undefined, AMPLE);
    const early = new WatchReader(other, "/away/", 0);
    await etcd.kill(0);
    const waiting = new WatchReader(other, "/away/", 0);
    const pending = waiting.next();
    waiting.abort();
    expect(await pending).toBeUndefined();
    await early.stop();
    const closed = failure(new WatchReader(other, "/away/", 0).next());
    await other.close();
    expect(await closed).toMatchObject({ code: "Closed" });
    etcd.restart(0);
    await works();
  });

  it("reports a full etcd as Full, and still reads", async () => {
    const large = Buffer.alloc(1024 * 1024, "z");
    const fill = async () => {
      for (let i = 0; i < 20; i++) await store.create(`/full/${i}`, large);
    };
    expect(await failure(fill())).toMatchObject({ code: "Full", maybeApplied: false });
    expect((await store.get("/full/0"))?.value.length).toBe(large.length);
  });
});
