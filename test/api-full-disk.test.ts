/**
 * A disk that runs full under a cluster, for real: a small tmpfs with a ballast file on it. Needs the right to mount.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Api } from "./support/api.ts";
import { Follower, revisionOf, stateOf } from "./support/follower.ts";
import { Home } from "./support/k8ts.ts";

const canMount = process.platform === "linux" && process.getuid?.() === 0;
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const TEXT = "x".repeat(5_000);

describe.skipIf(!canMount)("a full disk (needs root, to mount a tmpfs)", () => {
  it("writes fail with a clear error, reads and watches go on, and it works again when there is space", async () => {
    await using home = new Home();
    await using _disk = smallDisk(home);
    const up = ["up", "--store", "embedded", "--port", "0", "--detach"];
    expect(await home.k8ts(...up)).toMatchObject({ code: 0, stderr: "" });
    using api = new Api(home);
    using watching = new Api(home, "h2");
    const follower = new Follower(watching, CONFIG_MAPS);
    const followed = follower.follow();
    const create = (name: string) => api.call("POST", CONFIG_MAPS, { metadata: { name }, data: { text: TEXT } });
    const ballast = join(home.dataDir, "ballast");
    writeFileSync(ballast, Buffer.alloc(3 * 1024 * 1024));

    const acknowledged = new Map<string, number>();
    const full = await writeUntilRefused(create, acknowledged);
    expect(full).toMatchObject({ status: 507, body: { kind: "Status", message: expect.stringContaining("space") } });
    expect(acknowledged.size).toBeGreaterThan(10);

    // Still full, again and again, and reading goes on.
    for (let i = 0; i < 5; i++) {
      expect(await create(`more-${i}`)).toMatchObject({ status: 507 });
      expect(await api.call("PATCH", `${CONFIG_MAPS}/full-0`, { data: { more: TEXT } })).toMatchObject({ status: 507 });
      expect(await api.ok("GET", `${CONFIG_MAPS}/full-0`)).toMatchObject({ data: { text: TEXT } });
      const found = stateOf(await api.ok("GET", CONFIG_MAPS));
      for (const [name, revision] of acknowledged) expect(found.get(name)?.revision).toBe(revision);
      expect([...found.keys()].filter((name) => name.startsWith("more-"))).toEqual([]);
    }

    rmSync(ballast);
    for (let i = 0; i < 20; i++) acknowledged.set(`after-${i}`, revisionOf((await create(`after-${i}`)).body));
    const last = await api.ok("PATCH", `${CONFIG_MAPS}/full-0`, { data: { more: TEXT } });
    acknowledged.set("full-0", revisionOf(last));
    await follower.reached(revisionOf(last));
    const before = stateOf(await api.ok("GET", CONFIG_MAPS));
    expect(follower.state).toEqual(before);

    expect(await home.k8ts("down")).toMatchObject({ code: 0 });
    await followed;
    expect(() => writeFileSync(ballast, Buffer.alloc(64 * 1024 * 1024))).toThrow("ENOSPC");
    expect((await home.k8ts("why", "pod/web")).stderr).toMatch(/^k8ts: No cluster is running in /);
    rmSync(ballast);
    expect(await home.k8ts(...up)).toMatchObject({ code: 0, stderr: "" });
    using again = new Api(home);
    const after = stateOf(await again.ok("GET", CONFIG_MAPS));
    expect(after).toEqual(before);
    for (const [name, revision] of acknowledged) expect(after.get(name)?.revision).toBe(revision);
  });
});

/** The first answer that is not a success. */
async function writeUntilRefused(
  create: (name: string) => ReturnType<Api["call"]>,
  acknowledged: Map<string, number>,
): ReturnType<Api["call"]> {
  for (let i = 0; i < 10_000; i++) {
    const reply = await create(`full-${i}`);
    if (reply.status !== 201) return reply;
    acknowledged.set(`full-${i}`, revisionOf(reply.body));
  }
  throw new Error("The disk never became full.");
}

/** The home's data directory on a disk of its own. It is taken away before the home is. */
function smallDisk(home: Home): AsyncDisposable {
  mkdirSync(home.dataDir);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=12m", "tmpfs", home.dataDir], { encoding: "utf8" });
  if (mounted.status !== 0) throw new Error(`The small disk could not be mounted: ${mounted.stderr}`);
  return {
    async [Symbol.asyncDispose]() {
      await home.k8ts("down");
      spawnSync("umount", ["-l", home.dataDir]);
    },
  };
}
