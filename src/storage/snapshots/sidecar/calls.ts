/** The calls of the Controller service for snapshots. */
import { isGrpcError } from "#grpc";
import { ControllerRpc, type CsiDriver } from "../../csi/index.ts";
import { BadAnswerError, type SnapshotAnswer, snapshotAnswer } from "./answers.ts";

export type Texts = Readonly<Record<string, string>>;

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface CreateRequest {
  readonly name: string;
  readonly volumeHandle: string;
  readonly parameters: Texts;
  readonly secrets: Texts;
}

export async function createSnapshot(
  driver: CsiDriver,
  { name, volumeHandle, parameters, secrets }: CreateRequest,
  options: CallOptions,
): Promise<SnapshotAnswer> {
  const request = { name, sourceVolumeId: volumeHandle, parameters, secrets };
  const { snapshot } = await driver.Controller.CreateSnapshot(request, options);
  return snapshotAnswer(snapshot, { volumeHandle });
}

/** A snapshot that is not there any more is deleted. */
export async function deleteSnapshot(
  driver: CsiDriver,
  snapshotId: string,
  secrets: Texts,
  options: CallOptions,
): Promise<void> {
  try {
    await driver.Controller.DeleteSnapshot({ snapshotId, secrets }, options);
  } catch (error) {
    if (!isGrpcError(error, "NOT_FOUND")) throw error;
  }
}

/** By GetSnapshot or ListSnapshots. A driver that has neither is believed to have every snapshot that it is said to. */
export async function findSnapshot(
  driver: CsiDriver,
  handle: string,
  secrets: Texts,
  options: CallOptions,
): Promise<SnapshotAnswer> {
  const { capabilities } = await driver.Controller.ControllerGetCapabilities({}, options);
  const can = (type: number) => capabilities.some(({ rpc }) => rpc?.type === type);
  if (can(ControllerRpc.GET_SNAPSHOT)) {
    const { snapshot } = await driver.Controller.GetSnapshot({ snapshotId: handle, secrets }, options);
    return snapshotAnswer(snapshot, { handle });
  }
  if (!can(ControllerRpc.LIST_SNAPSHOTS))
    return { handle, createdNanos: undefined, sizeBytes: undefined, isReady: true, groupHandle: undefined };
  const { entries } = await driver.Controller.ListSnapshots({ snapshotId: handle, secrets }, options);
  const [entry] = entries;
  if (entry === undefined) throw new BadAnswerError(`can not find snapshot for snapshotID ${handle}`);
  return snapshotAnswer(entry.snapshot, { handle });
}
