/** What a driver answered about a group of snapshots, checked, and the calls that ask. */
import { isGrpcError } from "#grpc";
import type { CsiDriver, CsiReceived } from "../../csi/index.ts";
import type { VolumeSnapshotInfo } from "../objects/group-kinds.ts";
import { BadAnswerError, nanosOf, snapshotAnswer } from "./answers.ts";
import type { CallOptions, Texts } from "./calls.ts";

export interface GroupAnswer {
  readonly handle: string;
  /** Milliseconds since 1970; undefined if the driver gave none. */
  readonly createdMs: number | undefined;
  readonly isReady: boolean;
  readonly members: readonly VolumeSnapshotInfo[];
}

type Group = CsiReceived<"VolumeGroupSnapshot">;

/** `volumes`: a snapshot of each of them has to be in the answer, and no other. */
export function groupAnswer(
  group: Group | null,
  expected: { readonly handle?: string; readonly volumes?: readonly string[] },
): GroupAnswer {
  if (group === null) throw new BadAnswerError("the driver's answer has no group snapshot");
  const { groupSnapshotId, snapshots, creationTime, readyToUse } = group;
  if (groupSnapshotId === "") throw new BadAnswerError("the driver's answer has no group snapshot id");
  if (expected.handle !== undefined && groupSnapshotId !== expected.handle) {
    const words = `the driver answered about the group snapshot ${groupSnapshotId} instead of ${expected.handle}`;
    throw new BadAnswerError(words);
  }
  const members = snapshots.map((snapshot): VolumeSnapshotInfo => {
    const { handle, createdNanos, sizeBytes, isReady } = snapshotAnswer(snapshot, {});
    return {
      volumeHandle: snapshot.sourceVolumeId,
      snapshotHandle: handle,
      readyToUse: isReady,
      ...(createdNanos !== undefined && { creationTime: createdNanos }),
      ...(sizeBytes !== undefined && { restoreSize: sizeBytes }),
    };
  });
  if (expected.volumes !== undefined) checkVolumes(members, expected.volumes);
  const created = nanosOf(creationTime);
  const createdMs = created === undefined ? undefined : Number(BigInt(created) / 1_000_000n);
  return { handle: groupSnapshotId, createdMs, isReady: readyToUse, members };
}

function checkVolumes(members: readonly VolumeSnapshotInfo[], volumes: readonly string[]): void {
  const found = members.map(({ volumeHandle }) => volumeHandle).sort();
  const wanted = [...volumes].sort();
  if (found.length === wanted.length && found.every((each, i) => each === wanted[i])) return;
  throw new BadAnswerError(
    `the driver's group snapshot is of the volumes [${found.join(" ")}], not of all that it should be`,
  );
}

export interface GroupRequest {
  readonly name: string;
  readonly volumes: readonly string[];
  readonly parameters: Texts;
  readonly secrets: Texts;
}

export async function createGroup(
  driver: CsiDriver,
  request: GroupRequest,
  options: CallOptions,
): Promise<GroupAnswer> {
  const { name, volumes, parameters, secrets } = request;
  const sent = { name, sourceVolumeIds: volumes, parameters, secrets };
  const { groupSnapshot } = await driver.GroupController.CreateVolumeGroupSnapshot(sent, options);
  return groupAnswer(groupSnapshot, { volumes });
}

export async function findGroup(
  driver: CsiDriver,
  groupSnapshotId: string,
  snapshotIds: readonly string[],
  secrets: Texts,
  options: CallOptions,
): Promise<GroupAnswer> {
  const sent = { groupSnapshotId, snapshotIds, secrets };
  const { groupSnapshot } = await driver.GroupController.GetVolumeGroupSnapshot(sent, options);
  return groupAnswer(groupSnapshot, { handle: groupSnapshotId });
}

/** A group that is not there any more is deleted. */
export async function deleteGroup(
  driver: CsiDriver,
  groupSnapshotId: string,
  snapshotIds: readonly string[],
  secrets: Texts,
  options: CallOptions,
): Promise<void> {
  try {
    await driver.GroupController.DeleteVolumeGroupSnapshot({ groupSnapshotId, snapshotIds, secrets }, options);
  } catch (error) {
    if (!isGrpcError(error, "NOT_FOUND")) throw error;
  }
}
