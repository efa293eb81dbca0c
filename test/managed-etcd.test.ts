/** An etcd that k8ts runs: a cluster on it, its snapshots, moves between stores, and what is left after a loss. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findEtcd } from "../src/store/testing/etcd-server.ts";
import { Api } from "./support/api.ts";
import { Home } from "./support/k8ts.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

describe.skipIf(findEtcd() === undefined)("an etcd that k8ts runs (needs etcd)", () => {
  let home: Home;
  beforeAll(async () => {
    home = new Home();
    home.env.PATH = [home.env.PATH, dirname(findEtcd() ?? "")].join(delimiter);
  });
  afterAll(() => home[Symbol.asyncDispose]());

  const up = async (...flags: string[]) => {
    const result = await home.k8ts("up", ...flags, "--port", "0", "--detach");
    expect(result).toMatchObject({ code: 0, stderr: "" });
    return result.stdout;
  };
  const down = async () => expect(await home.k8ts("down")).toMatchObject({ code: 0 });
  /** All ConfigMaps of the namespace in the order of their revisions: names and uids. */
  const objects = async () => {
    using api = new Api(home, "h2");
    const list = await api.ok("GET", CONFIG_MAPS);
    const items = (list.items ?? []) as { metadata: { name: string; uid: string; resourceVersion: string } }[];
    const sorted = items.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
    return {
      shown: sorted.map(({ metadata: { name, uid } }) => `${name} ${uid}`),
      revision: Number(list.metadata?.resourceVersion),
    };
  };
  const create = async (name: string, data: Record<string, string> = {}) => {
    using api = new Api(home, "h2");
    return await api.ok("POST", CONFIG_MAPS, { metadata: { name }, data });
  };

  it("moves to etcd and back with every object, uid and the order of revisions", async () => {
    await up();
    for (const name of ["c", "a", "d", "b"]) await create(name);
    const old = await create("old");
    {
      using api = new Api(home, "h2");
      await api.ok("PATCH", `${CONFIG_MAPS}/a`, { data: { changed: "yes" } });
    }
    const before = await objects();
    expect(await home.k8ts("migrate", "--to", "etcd")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("already running"),
    });
    await down();
    expect(await home.k8ts("migrate", "--to", "embedded")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("in its embedded store already"),
    });
    const moved = await home.k8ts("migrate", "--to", "etcd");
    expect(moved).toMatchObject({ code: 0, stdout: expect.stringMatching(/Moved \d+ objects to etcd/) });
    expect(await home.k8ts("up", "--store", "embedded")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("k8ts migrate --to embedded"),
    });

    expect(await up()).toMatch(/etcd .*the only member/);
    const onEtcd = await objects();
    expect(onEtcd.shown).toEqual(before.shown);
    expect(onEtcd.revision).toBeGreaterThan(before.revision);
    using api = new Api(home, "h2");
    // What a client still holds from before is out of date, and is told so.
    const path = `${CONFIG_MAPS}/old`;
    expect(await api.call("PUT", path, { ...old, data: { from: "before" } })).toMatchObject({ status: 409 });
    const since = `${CONFIG_MAPS}?watch=true&resourceVersion=${before.revision}&timeoutSeconds=5`;
    expect((await api.call("GET", since)).text).toContain("Expired");
    const exact = `${CONFIG_MAPS}?resourceVersion=${before.revision}&resourceVersionMatch=Exact`;
    expect(await api.call("GET", exact)).toMatchObject({ status: 410 });
    await create("on-etcd");
    const later = await objects();
    await down();

    expect(await home.k8ts("migrate", "--to", "embedded")).toMatchObject({ code: 0 });
    await up();
    const back = await objects();
    expect(back.shown).toEqual(later.shown);
    expect(back.revision).toBeGreaterThanOrEqual(later.revision);
    await down();
  });

  it("a migration that broke off leaves the old store in use, and can be repeated", async () => {
    // Killed while etcd starts, or while objects are written.
    const broken = home.start("migrate", "--to", "etcd");
    await expect.poll(() => existsSync(join(home.dataDir, "etcd", "unfinished")), { timeout: 30_000 }).toBe(true);
    broken.process.kill("SIGKILL");
    await broken.ended();
    await up();
    const before = await objects();
    expect(before.shown.length).toBeGreaterThan(4);
    await down();
    expect(await home.k8ts("migrate", "--to", "etcd")).toMatchObject({ code: 0 });
    await up();
    expect((await objects()).shown).toEqual(before.shown);
  });

  it("is recovered from a snapshot when its data are lost", async () => {
    const snapshot = join(home.dir, "snapshot");
    const before = await objects();
    expect(await home.k8ts("snapshot", snapshot)).toMatchObject({ code: 0 });
    await create("after-the-snapshot");
    const { revision } = await objects();
    await down();
    rmSync(join(home.dataDir, "etcd", "data"), { recursive: true });
    expect(await home.k8ts("restore", snapshot)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("k8ts recover"),
    });
    expect(await home.k8ts("recover")).toMatchObject({ code: 1, stderr: expect.stringContaining("--from-snapshot") });
    expect(await home.k8ts("recover", "--from-snapshot", snapshot)).toMatchObject({ code: 0 });
    await up();
    const after = await objects();
    expect(after.shown).toEqual(before.shown);
    expect(after.revision).toBeGreaterThan(revision);
    await down();
    // The same data, as if the other members had been lost.
    expect(await home.k8ts("recover", "--force-new-cluster")).toMatchObject({ code: 0 });
    const stopped = join(home.dir, "stopped");
    expect(await home.k8ts("snapshot", stopped)).toMatchObject({ code: 0 });
    renameSync(stopped, snapshot);
    await up();
    expect((await objects()).shown).toEqual(before.shown);
  });

  it("is started again when it ends, without a lost watch or a failed write", async () => {
    using api = new Api(home, "h2");
    const log = () => home.log().filter((line) => JSON.stringify(line).includes("etcd has ended"));
    const { pid } = home.runState();
    const { readFileSync, readdirSync } = await import("node:fs");
    const child = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .find((name) => {
        try {
          const status = readFileSync(`/proc/${name}/status`, "utf8");
          return new RegExp(`^PPid:\\s${pid}$`, "m").test(status) && /^Name:\setcd$/m.test(status);
        } catch {
          return false;
        }
      });
    process.kill(Number(child), "SIGKILL");
    await expect
      .poll(async () => (await api.call("POST", CONFIG_MAPS, { metadata: { generateName: "x-" } })).status, {
        timeout: 30_000,
      })
      .toBe(201);
    expect(log()).toHaveLength(1);
  });
});
