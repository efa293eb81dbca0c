/** What a driver says of a volume: how large it is, what of it is used, and whether something is wrong with it. */
import { type CsiReceived, NodeRpc, UsageUnit } from "#storage/csi";
import { type CsiVolumeUsage, VolumeError, type VolumeFigures } from "../volumes/index.ts";
import type { NodePlugin } from "./drivers.ts";

export interface PublishedVolume {
  readonly driver: string;
  readonly handle: string;
  readonly stagingPath: string;
}

export interface UsageQuestion extends PublishedVolume {
  readonly path: string;
  readonly isHealthWanted: boolean;
}

/** Undefined if the driver has no statistics. */
export async function volumeUsage(
  { node, can }: NodePlugin,
  { handle, path, stagingPath, isHealthWanted }: UsageQuestion,
  signal: AbortSignal,
): Promise<CsiVolumeUsage | undefined> {
  if (!can.has(NodeRpc.GET_VOLUME_STATS)) return undefined;
  const stagingTargetPath = can.has(NodeRpc.STAGE_UNSTAGE_VOLUME) ? stagingPath : "";
  const answer = await node.NodeGetVolumeStats({ volumeId: handle, volumePath: path, stagingTargetPath }, { signal });
  const figures = figuresOf(answer.usage);
  const condition = isHealthWanted && can.has(NodeRpc.VOLUME_CONDITION) ? answer.volumeCondition : null;
  return condition === null ? figures : { ...figures, condition };
}

/** Throws VolumeError for an answer that says nothing. */
export function figuresOf(usage: CsiReceived<"NodeGetVolumeStatsResponse">["usage"]): VolumeFigures {
  if (usage.length === 0) throw new VolumeError("failed to get usage from response. usage is nil");
  let figures: VolumeFigures = {};
  for (const { unit, total, available, used } of usage) {
    if (unit === UsageUnit.BYTES)
      figures = {
        ...figures,
        capacityBytes: Number(total),
        availableBytes: Number(available),
        usedBytes: Number(used),
      };
    else if (unit === UsageUnit.INODES)
      figures = { ...figures, inodes: Number(total), inodesFree: Number(available), inodesUsed: Number(used) };
    else throw new VolumeError(`unknown key ${unit} in usage`);
  }
  return figures;
}
