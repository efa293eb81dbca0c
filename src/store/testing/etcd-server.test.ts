import { access, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findEtcd, startEtcd } from "./etcd-server.ts";

const PATIENCE = { timeout: 60_000, interval: 50 };

describe("findEtcd", () => {
  it("prefers PATH", async () => {
    const found = findEtcd();
    const folder = found?.slice(0, -"/etcd".length) ?? "";
    expect(findEtcd(`/nowhere:${folder}`)).toBe(found);
    expect([found, undefined]).toContain(findEtcd(""));
  });
});

describe.skipIf(findEtcd() === undefined)("startEtcd", () => {
  it("runs three members with TLS that fail and come back, and leaves nothing behind", async () => {
    const dir = await mkdtemp(join(tmpdir(), "k8ts-etcd-"));
    const etcd = await startEtcd({ members: 3, tls: true, dir });
    try {
      expect(new Set(etcd.endpoints).size).toBe(3);
      const first = await etcd.leader();
      if (first === undefined) throw new Error("A healthy cluster has a leader.");
      await etcd.kill(first);
      await expect.poll(async () => [undefined, first].includes(await etcd.leader()), PATIENCE).toBe(false);
      etcd.restart(first);
      await etcd.healthy();

      const second = (await etcd.leader()) ?? 0;
      await etcd.pause(second);
      await expect.poll(async () => [undefined, second].includes(await etcd.leader()), PATIENCE).toBe(false);
      etcd.resume(second);
      await etcd.healthy();
      await etcd.pause(second);
      await expect(etcd.pause(3)).rejects.toThrow(RangeError);
    } finally {
      await etcd.stop();
    }
    await expect(access(dir)).rejects.toThrow();
    expect(await etcd.leader()).toBeUndefined();
  });
});
