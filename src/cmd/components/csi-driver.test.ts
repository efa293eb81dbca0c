/** `k8ts csi-driver` as a process: it registers, refuses a second one, and is killed in the middle of every call. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { isGrpcError } from "#grpc";
import { AccessMode, type CsiDriver, openCsiDriver } from "#storage";
import { ownLoops, ownMounts, removeLeftovers } from "../../storage/driver/testing/leftovers.ts";
import { missingForMounts } from "../../storage/driver/testing/mounts.ts";

const why = missingForMounts();
const clock = realClock();
const MAIN = join(import.meta.dirname, "..", "main.ts");
let dir: string;
let processes: ChildProcess[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "csi-"));
});
afterEach(async () => {
  for (const child of processes) await kill(child);
  processes = [];
  const left = removeLeftovers(dir);
  await rm(dir, { recursive: true });
  expect(left).toEqual([]);
});

function start(): ChildProcess {
  const endpoint = `unix://${join(dir, "csi.sock")}`;
  const flags = ["--endpoint", endpoint, "--node-id", "node-1", "--state-dir", join(dir, "state")];
  const registration = ["--registration-dir", join(dir, "registry")];
  const child = spawn(process.execPath, [MAIN, "csi-driver", ...flags, ...registration], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  processes.push(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

async function serving(driver: CsiDriver): Promise<void> {
  const deadline = clock.monotonic() + 60_000;
  for (;;) {
    const answer = await driver.Identity.Probe({}).catch((error: unknown) => {
      if (!isGrpcError(error, "UNAVAILABLE") || clock.monotonic() > deadline) throw error;
    });
    if (answer?.ready?.value === true) return;
    await clock.sleep(20);
  }
}

describe.skipIf(why !== "")(`k8ts csi-driver${why && `: ${why}`}`, { timeout: 120_000 }, () => {
  const volumeCapability = { mount: {}, accessMode: { mode: AccessMode.SINGLE_NODE_WRITER } };
  const open = () => openCsiDriver(`unix://${join(dir, "csi.sock")}`, { clock });

  it("a second one on the same state ends and says why", async () => {
    start();
    const driver = open();
    await serving(driver);
    driver.close();
    const second = start();
    const ended = once(second, "exit");
    const said = second.stderr === null ? "" : await text(second.stderr);
    await ended;
    expect(said).toMatch(/state is in use by process \d+/);
    expect(second.exitCode).toBe(1);
  });

  it("killed while each call of a volume's life runs: asked again, the next one finishes it", async () => {
    const [stagingTargetPath, targetPath] = [join(dir, "staging"), join(dir, "target")];
    let volumeId = "";
    let snapshotId = "";
    const nodeId = "node-1";
    const calls: readonly ((driver: CsiDriver) => Promise<unknown>)[] = [
      async ({ Controller }) => {
        const made = await Controller.CreateVolume({
          name: "a",
          capacityRange: { requiredBytes: 16 * 1024 ** 2 },
          volumeCapabilities: [volumeCapability],
        });
        volumeId = made.volume?.volumeId ?? "";
      },
      ({ Controller }) => Controller.ControllerPublishVolume({ volumeId, nodeId, volumeCapability }),
      ({ Node }) => Node.NodeStageVolume({ volumeId, stagingTargetPath, volumeCapability }),
      ({ Node }) => Node.NodePublishVolume({ volumeId, stagingTargetPath, targetPath, volumeCapability }),
      async ({ Controller }) => {
        const made = await Controller.CreateSnapshot({ name: "a", sourceVolumeId: volumeId });
        snapshotId = made.snapshot?.snapshotId ?? "";
      },
      ({ Node }) => Node.NodeUnpublishVolume({ volumeId, targetPath }),
      ({ Node }) => Node.NodeUnstageVolume({ volumeId, stagingTargetPath }),
      ({ Controller }) => Controller.ControllerUnpublishVolume({ volumeId, nodeId }),
      ({ Controller }) => Controller.DeleteSnapshot({ snapshotId }),
      ({ Controller }) => Controller.DeleteVolume({ volumeId }),
    ];
    let current = start();
    for (const call of calls) {
      const driver = open();
      await serving(driver);
      const interrupted = call(driver).catch((error: unknown) => error);
      // A later call has arrived, so this one has, too.
      await driver.Identity.Probe({});
      await kill(current);
      await interrupted;
      current = start();
      await serving(driver);
      await call(driver);
      expect(new Set(ownLoops(dir)).size).toBe(ownLoops(dir).length);
      expect(ownLoops(dir).length).toBeLessThanOrEqual(1);
      expect(new Set(ownMounts(dir)).size).toBe(ownMounts(dir).length);
      driver.close();
    }
    expect([...ownMounts(dir), ...ownLoops(dir)]).toEqual([]);
  });
});
