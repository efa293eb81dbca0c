/** What the driver says of its volumes: lists, conditions, capabilities, capacity. */
import { ControllerRpc } from "../../csi/enums.ts";
import type { CsiHandlers, CsiSent } from "../../csi/services.ts";
import { capabilityProblem } from "../rules/capabilities.ts";
import { volumeMessage } from "../rules/messages.ts";
import { pageOf } from "../rules/paging.ts";
import type { VolumeRecord } from "../rules/records.ts";
import { needed, neededList, refuseKeys } from "../rules/requests.ts";
import { MAX_BYTES, MIN_BYTES } from "../rules/sizes.ts";
import { nodeIn } from "../rules/topology.ts";
import { type DriverContext, volumeImage, volumeOf } from "./context.ts";
import { roomOn } from "./room.ts";

type Handlers = Pick<
  CsiHandlers<"Controller">,
  "ControllerGetCapabilities" | "ListVolumes" | "ControllerGetVolume" | "ValidateVolumeCapabilities" | "GetCapacity"
>;

const OFFERED = [
  ControllerRpc.CREATE_DELETE_VOLUME,
  ControllerRpc.PUBLISH_UNPUBLISH_VOLUME,
  ControllerRpc.LIST_VOLUMES,
  ControllerRpc.GET_CAPACITY,
  ControllerRpc.CREATE_DELETE_SNAPSHOT,
  ControllerRpc.LIST_SNAPSHOTS,
  ControllerRpc.CLONE_VOLUME,
  ControllerRpc.PUBLISH_READONLY,
  ControllerRpc.EXPAND_VOLUME,
  ControllerRpc.LIST_VOLUMES_PUBLISHED_NODES,
  ControllerRpc.VOLUME_CONDITION,
  ControllerRpc.GET_VOLUME,
  ControllerRpc.SINGLE_NODE_MULTI_WRITER,
  ControllerRpc.GET_SNAPSHOT,
];

export function volumeDescriptions(context: DriverContext): Handlers {
  const { catalog } = context;
  return {
    ControllerGetCapabilities: async () => ({ capabilities: OFFERED.map((type) => ({ rpc: { type } })) }),
    async ListVolumes(request) {
      const listed = [...catalog.volumes.values()].filter(({ isEphemeral }) => isEphemeral !== true);
      const { entries, nextToken } = pageOf(listed, request);
      return { nextToken, entries: await Promise.all(entries.map((volume) => described(context, volume))) };
    },
    ControllerGetVolume: async ({ volumeId }) => described(context, volumeOf(context, needed(volumeId, "volume_id"))),
    async ValidateVolumeCapabilities({ volumeId, volumeCapabilities, parameters, mutableParameters, volumeContext }) {
      needed(volumeId, "volume_id");
      neededList(volumeCapabilities, "volume_capabilities");
      refuseKeys(parameters, "parameters");
      refuseKeys(mutableParameters, "mutable_parameters");
      const machine = context.machineOf(volumeOf(context, volumeId).node);
      const [problem] = volumeCapabilities
        .map((capability) => capabilityProblem(capability, machine))
        .filter((each) => each !== undefined);
      if (problem !== undefined) return { message: problem };
      return { confirmed: { volumeCapabilities, parameters, mutableParameters, volumeContext } };
    },
    async GetCapacity({ volumeCapabilities, parameters, accessibleTopology }) {
      refuseKeys(parameters, "parameters");
      const node = accessibleTopology === null ? undefined : nodeIn(accessibleTopology);
      const asked = accessibleTopology === null ? context.nodes() : context.nodes().filter((each) => each === node);
      let available = 0;
      let largest = 0;
      for (const each of asked) {
        const machine = context.machineOf(each);
        if (volumeCapabilities.some((capability) => capabilityProblem(capability, machine) !== undefined)) continue;
        const room = await roomOn(context, each);
        available += room;
        largest = Math.max(largest, Math.min(room, MAX_BYTES));
      }
      return {
        availableCapacity: available,
        maximumVolumeSize: { value: largest },
        minimumVolumeSize: { value: MIN_BYTES },
      };
    },
  };
}

async function described(context: DriverContext, volume: VolumeRecord) {
  const volumeCondition = await conditionOf(context, volume);
  const publishedNodeIds = volume.published === undefined ? [] : [volume.node];
  return { volume: volumeMessage(volume), status: { publishedNodeIds, volumeCondition } };
}

/** Whether the image is there, whole. */
export async function conditionOf(
  context: DriverContext,
  { id, node, bytes }: VolumeRecord,
): Promise<CsiSent<"VolumeCondition">> {
  const found = await context.machineOf(node).images.sizeOf(volumeImage(id));
  if (found === undefined) return { abnormal: true, message: `the image of volume ${id} is gone` };
  if (found.bytes < bytes)
    return { abnormal: true, message: `the image of volume ${id} has ${found.bytes} bytes instead of ${bytes}` };
  return { abnormal: false, message: "the image is whole" };
}
