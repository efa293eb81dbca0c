/**
 * The driver of a node with a user namespace: root of the machine works for somebody who may be hostile. What it refuses,
 * and what a node cannot make of what it gets.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realClock, uuidSource } from "#base";
import { inProcessDriver } from "../csi/in-process.ts";
import type { CsiSent } from "../csi/services.ts";
import type { NodePlace } from "./linux/mounts-in-node.ts";
import { openLocalDriver } from "./open-local-driver.ts";
import { isKnownMountFlag } from "./rules/mount-flags.ts";
import { block, fails, type Kit, makeSnapshot, makeVolume, mounting, publish, use } from "./testing/kit.ts";
import { removeLeftovers } from "./testing/leftovers.ts";
import { growsMounted, missingForMounts } from "./testing/mounts.ts";
import { startTestNode, type TestNode } from "./testing/node-place.ts";

describe("mount options", () => {
  it.each([
    "noatime",
    "data=journal",
    "errors=remount-ro",
    "compress=zstd:3",
    'context="system_u:object_r:t:s0:c1,c2"',
  ])("%s is passed on", (flag) => expect(isKnownMountFlag(flag)).toBe(true));

  it.each([
    // Another device of the machine.
    ...[
      "journal_path=/dev/sda",
      "journal_dev=0x800",
      "logdev=/dev/sda",
      "rtdev=/dev/sda",
      "device=/dev/sda",
      "subvol=/",
    ],
    // A damaged file system stops the machine, or tells it what to run or to mount.
    ...[
      "errors=panic",
      "fatal_errors=panic",
      "loop",
      "bind",
      "remount",
      "move",
      "X-mount.mkdir",
      "helper=nfs",
      "uhelper=x",
    ],
    // What the driver says itself; more than one; nothing.
    ...["suid", "dev", "users", "noatime,errors=panic", "context=a,errors=panic", "", "noatime\nsuid", " suid"],
  ])("%j is refused", (flag) => expect(isKnownMountFlag(flag)).toBe(false));
});

const why = missingForMounts();
const NODE = "node-1";

describe.skipIf(why !== "")(`a node with a user namespace${why && `: ${why}`}`, () => {
  let dir: string;
  let node: TestNode;
  let kit: Kit;
  const inNode = (name: string) => join(dir, "node", name);
  const start = async (more: Partial<NodePlace> = {}): Promise<Kit> => {
    const options = {
      nodeId: NODE,
      stateDir: join(dir, "state"),
      version: "1",
      clock: realClock(),
      newId: uuidSource(),
    };
    const driver = inProcessDriver("local:", await openLocalDriver({ ...options, node: { ...node.place, ...more } }));
    return { driver, nodeId: NODE, growsMounted: growsMounted(), path: inNode, name: (text) => text };
  };
  const stage = (
    volumeId: string,
    volumeCapability: CsiSent<"VolumeCapability">,
    stagingTargetPath = inNode("staging"),
  ) => kit.driver.Node.NodeStageVolume({ volumeId, stagingTargetPath, volumeCapability });

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "csi-"));
    chmodSync(dir, 0o755);
    mkdirSync(join(dir, "node"));
    node = startTestNode(join(dir, "node"));
    kit = await start();
  });
  afterEach(async () => {
    node[Symbol.dispose]();
    // Mounts of the node went with it; the driver would detach its devices when it starts again.
    removeLeftovers(dir);
    await rm(dir, { recursive: true });
  });

  it("its root owns the volume, as a user of the machine that is nobody; a snapshot has what it wrote", async () => {
    const { volumeId } = await makeVolume(kit);
    const used = await use(kit, volumeId);
    const write =
      'cd "$1" && echo kept > file && chown 1000:2000 file && chown -R :3000 lost+found && stat -c "%u %g" . file';
    expect(node.run(write, used.targetPath)).toBe("0 0\n1000 2000\n");
    const { snapshotId } = await makeSnapshot(kit, volumeId);
    expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(inNode("target"));
    await used.end();
    const restored = await makeVolume(kit, "restored", { volumeContentSource: { snapshot: { snapshotId } } });
    const again = await use(kit, restored.volumeId);
    expect(node.run('cat "$1/file"; stat -c %u:%g "$1/file"', again.targetPath)).toBe("kept\n1000:2000\n");
    await again.end();
  });

  it("has nosuid and nodev on its mounts, whatever it does; it cannot freeze or change the file system", async () => {
    const { volumeId } = await makeVolume(kit);
    const used = await use(kit, volumeId);
    const attempt = (script: string) => node.run(`(${script}) > /dev/null 2>&1 && echo DONE || true`, used.targetPath);
    expect(attempt("true")).toBe("DONE\n");
    for (const options of ["remount,bind,suid,dev", "remount,bind,dev", "remount,ro", "remount,errors=panic"])
      expect(attempt(`mount -o ${options} "$1"`)).toBe("");
    expect(attempt('mknod "$1/disk" b 7 0')).toBe("");
    expect(attempt('fsfreeze --freeze "$1"')).toBe("");
    expect(node.run('grep " $1 " /proc/self/mounts', used.targetPath)).toMatch(/ rw,nosuid,nodev,/);
    await used.end();
  });

  it("paths lead where the node's own links lead: nothing of the machine is made, mounted or removed", async () => {
    const outside = join(dir, "outside");
    mkdirSync(outside, { mode: 0o700 });
    node.run('ln -s "$1" "$2"; ln -s /proc/1/root "$3"', outside, inNode("link"), inNode("root"));
    const { volumeId } = await makeVolume(kit);
    await publish(kit, volumeId);
    for (const path of [inNode("link/new"), inNode("root/tmp/k8ts"), join(outside, "new"), "../../relative"])
      await expect(stage(volumeId, mounting(), path)).rejects.toThrow(/in the node: (mkdir|mount)/);
    expect(existsSync(join(outside, "new"))).toBe(false);
    // Over what it may not look into it can mount, as everywhere in its own namespace.
    expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(outside);
    expect(execFileSync("ls", [inNode("shown")], { encoding: "utf8" })).toBe("");
  });

  it("what it writes to a raw block device is never looked at as a file system, and the reverse", async () => {
    const raw = await makeVolume(kit, "raw", { volumeCapabilities: [block()] });
    await stage(raw.volumeId, block());
    await fails(stage(raw.volumeId, mounting()), "FAILED_PRECONDITION");
    const copy = await makeVolume(kit, "copy", { volumeContentSource: { volume: { volumeId: raw.volumeId } } });
    await fails(stage(copy.volumeId, mounting()), "FAILED_PRECONDITION");
    const files = await makeVolume(kit, "files");
    await stage(files.volumeId, mounting());
    await fails(stage(files.volumeId, block()), "FAILED_PRECONDITION");
  });

  it.each<[name: string, request: CsiSent<"NodePublishVolumeRequest">]>([
    ["an id that is a path", { volumeId: "../../../etc/passwd" }],
    [
      "an option that names a device",
      { volumeCapability: { ...mounting(), mount: { mountFlags: ["journal_path=/dev/vda"] } } },
    ],
    ["two options in one", { volumeCapability: { ...mounting(), mount: { mountFlags: ["noatime,suid"] } } }],
    ["a file system of a server", { volumeCapability: { ...mounting(), mount: { fsType: "nfs" } } }],
    ["a file system that is an option", { volumeCapability: { ...mounting(), mount: { fsType: "--bind" } } }],
    ["a block device", { volumeCapability: block() }],
  ])("an inline volume with %s is refused", async (_, request) => {
    const usual = { volumeId: "a", targetPath: inNode("target"), volumeCapability: mounting() };
    const volumeContext = { "csi.storage.k8s.io/ephemeral": "true" };
    await fails(kit.driver.Node.NodePublishVolume({ ...usual, volumeContext, ...request }), "INVALID_ARGUMENT");
    expect(existsSync(inNode("target"))).toBe(false);
  });

  it("programs of it that talk without end are ended", async () => {
    const { volumeId } = await makeVolume(kit);
    const used = await use(kit, volumeId);
    const { driver } = await start({ enter: ["sh", "-c", "exec yes"] });
    await expect(driver.Node.NodeGetVolumeStats({ volumeId, volumePath: used.targetPath })).rejects.toThrow("SIGKILL");
    await used.end();
  });

  it("when it is off, another process with its number is not entered", async () => {
    await fails(start({ startTicks: "1" }), "UNAVAILABLE");
    const { volumeId } = await makeVolume(kit);
    node.kill();
    await expect
      .poll(() => stage(volumeId, mounting()).catch(({ code }: { code: string }) => code))
      .toBe("UNAVAILABLE");
  });
});
