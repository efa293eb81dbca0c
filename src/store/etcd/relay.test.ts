/** A store whose connections to etcd are dialed by somebody else, over mutual TLS. */
import { once } from "node:events";
import { mkdtemp, readdir } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Dial, realClock } from "#base";
import { isStoreError } from "../model/errors.ts";
import { type EtcdServer, findEtcd, startEtcd } from "../testing/etcd-server.ts";
import { openEtcdStore } from "./index.ts";

const relaysLeft = async () => (await readdir(tmpdir())).filter((name) => name.startsWith("k8ts-etcd-relay-")).length;

describe.skipIf(findEtcd() === undefined).each([{ tls: true }, { tls: false }])("dialed, TLS: $tls", ({ tls }) => {
  let etcd: EtcdServer;
  beforeAll(async () => {
    etcd = await startEtcd({ members: 1, tls, dir: await mkdtemp(join(tmpdir(), "k8ts-etcd-")) });
  });
  afterAll(() => etcd?.stop());

  const open = (dial: Dial) =>
    openEtcdStore({
      endpoints: etcd.endpoints,
      ...(etcd.tls && { tls: etcd.tls }),
      clock: realClock(),
      compactionIntervalMs: 0,
      dial,
      timeoutMs: 2_000,
    });

  it("writes, reads and watches; nothing is left", async () => {
    const before = await relaysLeft();
    const dial = vi.fn<Dial>(async (address) => {
      const socket = connect(address);
      await once(socket, "connect");
      return socket;
    });
    const store = await open(dial);
    const revision = await store.revision();
    const wrote = await store.create("/a", Buffer.from("b"));
    expect(wrote.ok).toBe(true);
    expect((await store.get("/a"))?.value.toString()).toBe("b");
    const ending = new AbortController();
    for await (const batch of store.watch("/", { after: revision, signal: ending.signal })) {
      expect(batch.changes.map(({ key }) => key)).toEqual(["/a"]);
      break;
    }
    ending.abort();
    const [url = ""] = etcd.endpoints;
    const { hostname: host, port } = new URL(url);
    expect(dial.mock.calls[0]).toEqual([{ host, port: Number(port) }]);
    await store.close();
    expect(await relaysLeft()).toBe(before);
  });

  it("a dial that fails is an etcd that is not available", async () => {
    const before = await relaysLeft();
    const failure = await open(() => Promise.reject(new Error("no way"))).catch((error: unknown) => error);
    expect(isStoreError(failure, "Unavailable")).toBe(true);
    expect(await relaysLeft()).toBe(before);
  });
});
