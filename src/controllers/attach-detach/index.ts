/**
 * Attaches the volumes of scheduled Pods to their nodes, and detaches them when no Pod needs them any more. CSI drivers
 * do the work: this controller creates and deletes VolumeAttachments, and maintains status.volumesAttached of nodes.
 *
 *     Pods, claims, volumes, VolumeAttachments, Nodes --► a node's name ──► planNode ══► VolumeAttachments, Node
 *
 * 1. One key is one node: what its status lists and what is detached from it is decided in one place.
 * 2. Two nodes never get an exclusive volume at once: a node that is about to get it reserves it until the caches show
 *    the attachment.
 * 3. Before a volume is detached because its node has unmounted it, the API server is asked for the Node.
 */
import { type core, isStatusError, kinds } from "#api";
import type { Client } from "#client";
import { podsByNode } from "../pods/index.ts";
import { type Controller, defineController } from "../runtime/index.ts";
import { attachmentsOf } from "./attachments.ts";
import { type AttachDetachSettings, type NodeMemory, type NodeView, planNode } from "./plan.ts";
import { attachSources } from "./sources.ts";
import { volumeUsers } from "./volume-users.ts";
import { isManaged, type VolumeLookups, wantedVolumes } from "./wanted-volumes.ts";

export type { AttachDetachSettings } from "./plan.ts";

export function attachDetachController(options: Partial<AttachDetachSettings> = {}): Controller {
  const settings: AttachDetachSettings = { forceDetachOnTimeout: true, ...options };
  return defineController({
    name: "persistentvolume-attach-detach-controller",
    account: "attachdetach-controller",
    reportsAs: "attachdetach-controller",
    bind({ cache, client }) {
      const nodes = cache(kinds.Node);
      const pods = cache(kinds.Pod);
      const claims = cache(kinds.PersistentVolumeClaim);
      const volumes = cache(kinds.PersistentVolume);
      const drivers = cache(kinds.CSIDriver);
      const csiNodes = cache(kinds.CSINode);
      const attachments = cache(kinds.VolumeAttachment);
      const podsOn = podsByNode(pods);
      const attachmentsTo = attachments.index("node", ({ spec }) => [spec.nodeName]);
      const users = volumeUsers({ pods, volumes, attachments });
      const lookups: VolumeLookups = {
        claim: (key) => claims.get(key),
        volume: (name) => volumes.get(name),
        driver: (name) => drivers.get(name),
        csiNode: (name) => csiNodes.get(name),
      };
      const memories = new Map<string, NodeMemory>();
      /** The nodes that are about to get a volume. */
      const reservations = new Map<string, string>();
      /** The volumes in use of nodes that were deleted since this process started. */
      const lastInUse = new Map<string, readonly string[]>();

      const viewOf = (name: string, node: core.Node | undefined): NodeView => ({
        name,
        node,
        wanted: wantedVolumes(podsOn(name), node, lookups),
        attachments: attachmentsOf(
          name,
          attachmentsTo(name),
          node?.status?.volumesAttached?.map((volume) => volume.name) ?? [],
          lookups.volume,
        ),
        inUse: node === undefined ? lastInUse.get(name) : (node.status?.volumesInUse ?? []),
        elsewhere: (volume) => ({
          attachments: users.attachmentsOf(volume).filter(({ spec }) => spec.nodeName !== name),
          pods: users.podsWith(volume).filter(({ spec }) => spec?.nodeName !== name),
          isReserved: (reservations.get(volume) ?? name) !== name,
        }),
      });

      return {
        sources: attachSources({
          users,
          isWatched: (name) => podsOn(name).length > 0 || attachmentsTo(name).length > 0,
          onNode: ({ type, object }) => {
            const { name = "" } = object.metadata;
            if (type === "deleted") lastInUse.set(name, object.status?.volumesInUse ?? []);
            else lastInUse.delete(name);
          },
        }),
        async reconcile(name, now, signal) {
          const node = nodes.get(name);
          if (node !== undefined && !isManaged(node)) return undefined;
          const before = memories.get(name) ?? new Map();
          let planned = planNode(viewOf(name, node), before, now, settings);
          if (planned.trustsNode && node !== undefined) {
            const live = await liveNode(client, name, signal);
            // Its deletion is about to be seen, and leads to another run.
            if (live === undefined) return undefined;
            planned = planNode(viewOf(name, live), before, now, settings);
          }
          for (const [volume, holder] of reservations) if (holder === name) reservations.delete(volume);
          for (const volume of planned.attaches) reservations.set(volume, name);
          if (planned.memory.size === 0) memories.delete(name);
          else memories.set(name, planned.memory);
          if (node === undefined && planned.memory.size === 0) lastInUse.delete(name);
          return planned.plan;
        },
      };
    },
  });
}

async function liveNode(client: Client, name: string, signal: AbortSignal): Promise<core.Node | undefined> {
  try {
    return await client.of(kinds.Node).get(name, { signal });
  } catch (error) {
    if (isStatusError(error) && error.reason === "NotFound") return undefined;
    throw error;
  }
}
