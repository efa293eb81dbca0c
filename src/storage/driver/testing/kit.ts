/** What the rows of the sanity table work with: a driver of any make, and requests that are right. */
import { expect } from "vitest";
import type { GrpcCode } from "#grpc";
import type { CsiDriver } from "../../csi/client.ts";
import { AccessMode } from "../../csi/enums.ts";
import type { CsiReceived, CsiSent } from "../../csi/services.ts";

export interface Kit {
  readonly driver: Pick<CsiDriver, "Identity" | "Controller" | "GroupController" | "Node">;
  readonly nodeId: string;
  /** Whether file systems grow while they are mounted. */
  readonly growsMounted: boolean;
  /** A path of its own for this row, in a folder that exists. */
  path(name: string): string;
  /** A name that no other row uses. */
  name(text: string): string;
}

export interface Row {
  readonly name: string;
  /** Real mounts need root. */
  readonly needsMounts?: true;
  run(kit: Kit): Promise<void>;
}

export const MIB = 1024 ** 2;
export const SIZE = 16 * MIB;

export function mounting(mode: number = AccessMode.SINGLE_NODE_WRITER, fsType = ""): CsiSent<"VolumeCapability"> {
  return { mount: { fsType }, accessMode: { mode } };
}

export function block(mode: number = AccessMode.SINGLE_NODE_WRITER): CsiSent<"VolumeCapability"> {
  return { block: {}, accessMode: { mode } };
}

export type Volume = CsiReceived<"Volume">;

export async function makeVolume(
  kit: Kit,
  text = "volume",
  more: CsiSent<"CreateVolumeRequest"> = {},
): Promise<Volume> {
  const { volume } = await kit.driver.Controller.CreateVolume({
    name: kit.name(text),
    capacityRange: { requiredBytes: SIZE },
    volumeCapabilities: [mounting()],
    ...more,
  });
  if (volume === null) throw new Error("the response has no volume");
  return volume;
}

export async function makeSnapshot(kit: Kit, sourceVolumeId: string, text = "snapshot") {
  const { snapshot } = await kit.driver.Controller.CreateSnapshot({ sourceVolumeId, name: kit.name(text) });
  if (snapshot === null) throw new Error("the response has no snapshot");
  return snapshot;
}

export async function makeGroup(kit: Kit, sourceVolumeIds: readonly string[], text = "group") {
  const { groupSnapshot } = await kit.driver.GroupController.CreateVolumeGroupSnapshot({
    name: kit.name(text),
    sourceVolumeIds,
  });
  if (groupSnapshot === null) throw new Error("the response has no group snapshot");
  return groupSnapshot;
}

export async function publish(kit: Kit, volumeId: string, volumeCapability = mounting(), readonly = false) {
  const { nodeId } = kit;
  return kit.driver.Controller.ControllerPublishVolume({ volumeId, nodeId, volumeCapability, readonly });
}

/** Published, staged and at its target; a function takes it down again. */
export async function use(kit: Kit, volumeId: string, volumeCapability = mounting()) {
  const { Controller, Node } = kit.driver;
  const { publishContext } = await publish(kit, volumeId, volumeCapability);
  const [stagingTargetPath, targetPath] = [kit.path("staging"), kit.path("target")];
  await Node.NodeStageVolume({ volumeId, publishContext, stagingTargetPath, volumeCapability });
  await Node.NodePublishVolume({ volumeId, publishContext, stagingTargetPath, targetPath, volumeCapability });
  return {
    stagingTargetPath,
    targetPath,
    async end() {
      await Node.NodeUnpublishVolume({ volumeId, targetPath });
      await Node.NodeUnstageVolume({ volumeId, stagingTargetPath });
      await Controller.ControllerUnpublishVolume({ volumeId, nodeId: kit.nodeId });
    },
  };
}

export async function fails(call: Promise<unknown>, code: GrpcCode): Promise<void> {
  await expect(call).rejects.toMatchObject({ code });
}

/** Pages of a list until there are no more. */
export async function allPages<T>(
  page: (startingToken: string) => Promise<{ readonly entries: readonly T[]; readonly nextToken: string }>,
  atMost: number,
): Promise<T[]> {
  const found: T[] = [];
  let token = "";
  do {
    const { entries, nextToken } = await page(token);
    expect(entries.length).toBeLessThanOrEqual(atMost);
    found.push(...entries);
    token = nextToken;
  } while (token !== "");
  return found;
}
