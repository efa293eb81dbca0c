/** The driver on this machine: data, limits, and what is left after failures. Needs root. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realClock, uuidSource } from "#base";
import type { CsiDriver } from "../csi/client.ts";
import { AccessMode } from "../csi/enums.ts";
import { inProcessDriver } from "../csi/in-process.ts";
import { type RunProgram, runProgram } from "./linux/command.ts";
import { type LocalDriverOptions, openLocalDriver } from "./open-local-driver.ts";
import {
  block,
  fails,
  type Kit,
  MIB,
  makeGroup,
  makeSnapshot,
  makeVolume,
  mounting,
  publish,
  use,
} from "./testing/kit.ts";
import { ownLoops, ownMounts, removeLeftovers } from "./testing/leftovers.ts";
import { canMake, growsMounted, missingForMounts } from "./testing/mounts.ts";

const why = missingForMounts();
const NODE = "node-1";
let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "csi-"));
});
afterEach(async () => {
  const left = removeLeftovers(dir);
  await rm(dir, { recursive: true });
  expect(left).toEqual([]);
});

const stateDir = () => join(dir, "state");
const images = (kind = "volumes") => readdirSync(join(stateDir(), "images", kind));

async function start(more: Partial<LocalDriverOptions> = {}): Promise<Kit> {
  const options = { nodeId: NODE, stateDir: stateDir(), version: "1", clock: realClock(), newId: uuidSource() };
  const driver: CsiDriver = inProcessDriver("local:", await openLocalDriver({ ...options, ...more }));
  const path = (name: string) => join(dir, name);
  return { driver, nodeId: NODE, growsMounted: growsMounted(), path, name: (text) => text };
}

const sizeOf = (bytes: number) => ({ capacityRange: { requiredBytes: bytes } });

/** A file of this many bytes. */
function fill(path: string, bytes: number): void {
  execFileSync("dd", ["if=/dev/zero", `of=${path}`, "bs=65536", `count=${bytes / 65_536}`, "conv=fsync"], {
    stdio: "pipe",
  });
}

/** Until the disk is full. */
function fillRest(path: string): void {
  expect(() => execFileSync("dd", ["if=/dev/zero", `of=${path}`, "bs=4096"], { stdio: "pipe" })).toThrow();
}

describe.skipIf(why !== "")(`volumes on this machine${why && `: ${why}`}`, () => {
  it("a volume of 64 MiB refuses the 65th, and its data survives its publications", async () => {
    const kit = await start();
    const { volumeId } = await makeVolume(kit, "a", sizeOf(64 * MIB));
    const used = await use(kit, volumeId);
    writeFileSync(join(used.targetPath, "kept"), "data");
    expect(() => fill(join(used.targetPath, "large"), 65 * MIB)).toThrow(/No space left on device/);
    await rm(join(used.targetPath, "large"));
    fill(join(used.targetPath, "fits"), 48 * MIB);
    await used.end();
    expect(existsSync(used.targetPath)).toBe(false);
    const again = await use(kit, volumeId);
    expect(readFileSync(join(again.targetPath, "kept"), "utf8")).toBe("data");
    await again.end();
  });

  it("snapshots and clones of a volume in use have what was written before", async () => {
    const kit = await start();
    const { volumeId } = await makeVolume(kit);
    const used = await use(kit, volumeId);
    // Not yet on the disk: freezing writes it.
    writeFileSync(join(used.targetPath, "file"), "before");
    const { snapshotId } = await makeSnapshot(kit, volumeId);
    const [member] = (await makeGroup(kit, [volumeId])).snapshots;
    const clone = await makeVolume(kit, "clone", { volumeContentSource: { volume: { volumeId } } });
    writeFileSync(join(used.targetPath, "file"), "after");
    const from = (snapshot: string) => ({ volumeContentSource: { snapshot: { snapshotId: snapshot } } });
    const restored = await makeVolume(kit, "restored", from(snapshotId));
    const larger = await makeVolume(kit, "larger", { ...from(member?.snapshotId ?? ""), ...sizeOf(64 * MIB) });
    await used.end();
    for (const { volumeId: id } of [clone, restored, larger]) {
      const other = await use(kit, id);
      expect(readFileSync(join(other.targetPath, "file"), "utf8")).toBe("before");
      if (id === larger.volumeId) fill(join(other.targetPath, "large"), 40 * MIB);
      await other.end();
    }
  });

  // ext4 grows while it is mounted only for those who may: the row of all drivers has that.
  it.each(["xfs", "btrfs"].map((fsType) => [fsType, canMake(fsType) ? "" : `: mkfs.${fsType} is missing`] as const))(
    "%s: a full volume grows while it is used; its clone is used beside it, also without writing to it%s",
    async (fsType, missing) => {
      if (missing !== "") return;
      const kit = await start();
      const capability = mounting(undefined, fsType);
      const readOnly = mounting(AccessMode.SINGLE_NODE_READER_ONLY, fsType);
      const beside = { ...kit, path: (name: string) => kit.path(`other-${name}`) };
      const like = { volumeCapabilities: [capability], ...sizeOf(256 * MIB) };
      const { volumeId } = await makeVolume(kit, "a", like);
      const used = await use(kit, volumeId, capability);
      expect(execFileSync("stat", ["--file-system", "--format=%T", used.targetPath], { encoding: "utf8" })).toBe(
        `${fsType}\n`,
      );
      writeFileSync(join(used.targetPath, "kept"), "data");
      const clone = await makeVolume(kit, "clone", { ...like, volumeContentSource: { volume: { volumeId } } });
      fillRest(join(used.targetPath, "large"));
      const capacityRange = { requiredBytes: 384 * MIB };
      await kit.driver.Controller.ControllerExpandVolume({ volumeId, capacityRange, volumeCapability: capability });
      await kit.driver.Node.NodeExpandVolume({ volumeId, volumePath: used.targetPath, capacityRange });
      fill(join(used.targetPath, "more"), 96 * MIB);
      for (const way of [readOnly, capability]) {
        const other = await use(beside, clone.volumeId, way);
        expect(readFileSync(join(other.targetPath, "kept"), "utf8")).toBe("data");
        await other.end();
      }
      await used.end();
    },
  );

  it("what is read-only cannot be written to", async () => {
    const kit = await start();
    const { volumeId } = await makeVolume(kit);
    const used = await use(kit, volumeId);
    const [targetPath, volumeCapability] = [kit.path("second"), mounting()];
    const { stagingTargetPath } = used;
    const { NodePublishVolume, NodeUnpublishVolume } = kit.driver.Node;
    await NodePublishVolume({ volumeId, stagingTargetPath, targetPath, volumeCapability, readonly: true });
    expect(() => writeFileSync(join(targetPath, "file"), "x")).toThrow("EROFS");
    writeFileSync(join(used.targetPath, "file"), "x");
    await NodeUnpublishVolume({ volumeId, targetPath });
    await used.end();
  });

  it("a raw block volume keeps its bytes, and is never formatted", async () => {
    const kit = await start();
    const { volumeId } = await makeVolume(kit, "a", { volumeCapabilities: [block()] });
    for (const round of [1, 2]) {
      const used = await use(kit, volumeId, block());
      if (round === 1) writeFileSync(used.targetPath, "bytes", { flag: "r+" });
      expect(readFileSync(used.targetPath).subarray(0, 5).toString()).toBe("bytes");
      await used.end();
    }
    await publish(kit, volumeId);
    const stagingTargetPath = kit.path("staging");
    const asFiles = { volumeId, stagingTargetPath, volumeCapability: mounting() };
    await fails(kit.driver.Node.NodeStageVolume(asFiles), "FAILED_PRECONDITION");
  });

  it("a start after kill -9 keeps what is mounted, and detaches what is not", async () => {
    const kit = await start();
    const { volumeId } = await makeVolume(kit);
    const used = await use(kit, volumeId);
    writeFileSync(join(used.targetPath, "file"), "data");
    const loops = ownLoops(dir);
    const next = await start();
    expect(ownLoops(dir)).toEqual(loops);
    const { stagingTargetPath, targetPath } = used;
    const volumeCapability = mounting();
    await next.driver.Node.NodeStageVolume({ volumeId, stagingTargetPath, volumeCapability });
    await next.driver.Node.NodePublishVolume({ volumeId, stagingTargetPath, targetPath, volumeCapability });
    expect(ownMounts(dir)).toHaveLength(2);
    // As if it had been killed after the device was attached.
    const other = await makeVolume(next, "other");
    execFileSync("losetup", ["--find", join(stateDir(), "images/volumes", `${other.volumeId}.img`)]);
    expect(ownLoops(dir)).toHaveLength(2);
    const last = await start();
    expect(ownLoops(dir)).toEqual(loops);
    expect(readFileSync(join(targetPath, "file"), "utf8")).toBe("data");
    await last.driver.Node.NodeUnpublishVolume({ volumeId, targetPath });
    await last.driver.Node.NodeUnstageVolume({ volumeId, stagingTargetPath });
  });

  it("a start after kill -9 thaws a file system that a snapshot had frozen", async () => {
    const kit = await start();
    const { volumeId } = await makeVolume(kit);
    const used = await use(kit, volumeId);
    execFileSync("fsfreeze", ["--freeze", used.stagingTargetPath]);
    const next = await start();
    writeFileSync(join(used.targetPath, "file"), "data");
    const { stagingTargetPath, targetPath } = used;
    await next.driver.Node.NodeUnpublishVolume({ volumeId, targetPath });
    await next.driver.Node.NodeUnstageVolume({ volumeId, stagingTargetPath });
  });

  it("killed before each program that a volume's life runs: the next start finishes it, and nothing is doubled", async () => {
    let steps = 0;
    const counting: RunProgram = async (...call) => {
      steps += 1;
      return runProgram(...call);
    };
    await lifeOf(await start({ run: counting }), "whole");
    expect(steps).toBeGreaterThan(8);
    const total = steps;
    for (let last = 0; last < total; last++) {
      let left = last;
      const killed: RunProgram = async (...call) => {
        if (left-- > 0) return runProgram(...call);
        throw new Error("killed");
      };
      await expect(lifeOf(await start({ run: killed }), `v${last}`)).rejects.toThrow("killed");
      await lifeOf(await start(), `v${last}`);
      expect([...ownMounts(dir), ...ownLoops(dir)]).toEqual([]);
    }
    expect(images()).toEqual([]);
  }, 60_000);

  it("mkfs that hangs is killed with its call; meanwhile others are told to wait, and the next try succeeds", async () => {
    const aborting = new AbortController();
    let started = () => {};
    const hasStarted = new Promise<void>((resolve) => {
      started = resolve;
    });
    const hanging: RunProgram = async (program, args, signal) => {
      if (!program.startsWith("mkfs")) return runProgram(program, args, signal);
      started();
      return runProgram("sleep", ["1000"], signal);
    };
    const kit = await start({ run: hanging });
    const { volumeId } = await makeVolume(kit);
    const request = { volumeId, stagingTargetPath: kit.path("staging"), volumeCapability: mounting() };
    const staging = kit.driver.Node.NodeStageVolume(request, { signal: aborting.signal });
    await hasStarted;
    await fails(kit.driver.Node.NodeStageVolume(request), "ABORTED");
    aborting.abort(new Error("the caller has gone"));
    await expect(staging).rejects.toThrow("the caller has gone");
    const next = await start();
    expect(images()).toEqual([`${volumeId}.img`]);
    await (await use(next, volumeId)).end();
  });

  it("a full disk is RESOURCE_EXHAUSTED, and leaves nothing behind", async () => {
    const disk = join(dir, "disk");
    execFileSync("mkdir", [disk]);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=48m", "tmpfs", disk]);
    try {
      const kit = await start({ stateDir: join(disk, "state") });
      const { volumeId } = await makeVolume(kit, "a", sizeOf(32 * MIB));
      await fails(makeVolume(kit, "b", sizeOf(32 * MIB)), "RESOURCE_EXHAUSTED");
      // Others fill the disk.
      expect(() => fill(join(disk, "theirs"), 64 * MIB)).toThrow();
      await fails(makeVolume(kit, "c", sizeOf(MIB)), "RESOURCE_EXHAUSTED");
      // A record that is there can be changed: else nothing could be taken down.
      await publish(kit, volumeId);
      const request = { volumeId, stagingTargetPath: kit.path("staging"), volumeCapability: mounting() };
      fillRest(join(disk, "rest"));
      await fails(kit.driver.Node.NodeStageVolume(request), "RESOURCE_EXHAUSTED");
      expect(readdirSync(join(disk, "state/images/volumes"))).toEqual([`${volumeId}.img`]);
      await Promise.all(["theirs", "rest"].map((name) => rm(join(disk, name))));
      await kit.driver.Node.NodeStageVolume(request);
      await kit.driver.Node.NodeUnstageVolume(request);
    } finally {
      execFileSync("umount", [disk]);
    }
  });

  it("leftovers without a record are removed; a record that cannot be read stops the start", async () => {
    const kit = await start();
    const { volumeId } = await makeVolume(kit);
    const folder = join(stateDir(), "images/volumes");
    for (const name of ["vol-lost.img", "vol-half.img.x.draft"]) writeFileSync(join(folder, name), "");
    writeFileSync(join(stateDir(), "records/volumes/vol-x.json.draft"), "{");
    await start();
    expect(images()).toEqual([`${volumeId}.img`]);
    writeFileSync(join(stateDir(), `records/volumes/${volumeId}.json`), "{");
    await expect(start()).rejects.toThrow("is not a record of the driver");
    expect(images()).toEqual([`${volumeId}.img`]);
  });
});

/** From its creation to its end. */
async function lifeOf(kit: Kit, name: string): Promise<void> {
  const { volumeId } = await makeVolume(kit, name);
  const used = await use(kit, volumeId);
  writeFileSync(join(used.targetPath, "file"), name);
  expect(ownMounts(dir)).toHaveLength(2);
  expect(ownLoops(dir)).toHaveLength(1);
  const { snapshotId } = await makeSnapshot(kit, volumeId, name);
  await used.end();
  await kit.driver.Controller.DeleteSnapshot({ snapshotId });
  await kit.driver.Controller.DeleteVolume({ volumeId });
}
