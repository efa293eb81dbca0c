/**
 * CreateVolume and DeleteVolume.
 *
 *     name known? ──► compatible: the same volume again
 *     node, size, room ──► image ══► record ──► response
 *
 * 1. The record is the volume: an image without one is a leftover, which the next start removes.
 */
import { GrpcError } from "#grpc";
import type { CsiHandlers, CsiReceived } from "../../csi/services.ts";
import { accessOf, type Offered } from "../rules/capabilities.ts";
import { leastBytesOf } from "../rules/file-systems.ts";
import { volumeMessage } from "../rules/messages.ts";
import type { Content, ContentSource, VolumeRecord } from "../rules/records.ts";
import { invalid, needed, neededList, refuseKeys } from "../rules/requests.ts";
import { isWithin, rangeOf, sizeFor } from "../rules/sizes.ts";
import { placeVolume } from "../rules/topology.ts";
import { type DriverContext, deviceOf, named, snapshotImage, snapshotOf, volumeImage, volumeOf } from "./context.ts";
import { reserving } from "./room.ts";
import { copyWhileStill } from "./still.ts";

type Handlers = Pick<CsiHandlers<"Controller">, "CreateVolume" | "DeleteVolume">;

export function volumeMaking(context: DriverContext): Handlers {
  const { catalog, busy } = context;
  return {
    async CreateVolume(request, { signal }) {
      const name = needed(request.name, "name");
      neededList(request.volumeCapabilities, "volume_capabilities");
      refuseKeys(request.parameters, "parameters");
      refuseKeys(request.mutableParameters, "mutable_parameters");
      const range = rangeOf(request.capacityRange);
      const source = sourceOf(request.volumeContentSource);
      return busy.hold([`volume ${name}`], async () => {
        const existing = named(catalog.volumes, name);
        if (existing !== undefined) {
          accessesFor(request, context.machineOf(existing.node));
          const isSame = isWithin(existing.bytes, range) && isSameSource(existing.source, source);
          if (!isSame) throw new GrpcError("ALREADY_EXISTS", `volume ${name} exists with another size or source`);
          return { volume: volumeMessage(existing) };
        }
        const content = source && contentOf(context, source);
        const node = placeVolume(request.accessibilityRequirements, context.nodes(), content?.node);
        const machine = context.machineOf(node);
        const [access] = accessesFor(request, machine);
        const smallest = leastBytesOf(machine.fileSystems, access?.fsType ?? "");
        const bytes = sizeFor(range, smallest, content?.bytes);
        const draft = { id: `vol-${context.newId()}`, seq: catalog.nextSeq(), name, node, bytes, source };
        const made = await reserving(context, node, bytes, () => makeVolume(context, draft, content, signal));
        return { volume: volumeMessage(made) };
      });
    },
    async DeleteVolume({ volumeId }) {
      needed(volumeId, "volume_id");
      return busy.hold([volumeId], async () => {
        const volume = catalog.volumes.get(volumeId);
        if (volume === undefined) return {};
        await removeVolume(context, volume);
        return {};
      });
    },
  };
}

type Draft = Pick<VolumeRecord, "id" | "seq" | "name" | "node" | "bytes" | "source" | "isEphemeral">;

/** With the source's content, or blank. */
export async function makeVolume(
  context: DriverContext,
  draft: Draft,
  content: Content | undefined,
  signal: AbortSignal,
): Promise<VolumeRecord> {
  const { catalog, busy } = context;
  const { images } = context.machineOf(draft.node);
  const image = volumeImage(draft.id);
  const { source } = draft;
  try {
    if (source === undefined) await images.allocate(image, draft.bytes);
    else await busy.hold([source.id], () => copySource(context, draft, source, signal));
    const { isBlank = true, fsType, fsBytes } = content ?? {};
    return await catalog.put("volumes", { ...draft, isBlank, fsType, fsBytes });
  } catch (error) {
    await images.remove(image);
    throw error;
  }
}

/** The volume is in use nowhere. */
export async function removeVolume(context: DriverContext, volume: VolumeRecord): Promise<void> {
  const { id, node, published } = volume;
  const machine = context.machineOf(node);
  const inUse = (where: string) => new GrpcError("FAILED_PRECONDITION", `volume ${id} is in use: it is ${where}`);
  if (published !== undefined) throw inUse(`published to node ${node}`);
  const device = await deviceOf(machine, id);
  if (device !== undefined) {
    const mounted = (await machine.mounts()).find((mount) => mount.device === device.number);
    if (mounted !== undefined) throw inUse(`mounted at ${mounted.path}`);
    await machine.detach(device.number);
  }
  await context.catalog.remove("volumes", id);
  await machine.images.remove(volumeImage(id));
}

async function copySource(
  context: DriverContext,
  draft: Draft,
  source: ContentSource,
  signal: AbortSignal,
): Promise<void> {
  const to = volumeImage(draft.id);
  if (source.kind === "snapshot") {
    const { id } = snapshotOf(context, source.id);
    await context.machineOf(draft.node).images.copy(snapshotImage(id), to, draft.bytes, signal);
    return;
  }
  await copyWhileStill(context, draft.node, [{ volumeId: source.id, to, bytes: draft.bytes }], signal);
}

function accessesFor({ volumeCapabilities }: CsiReceived<"CreateVolumeRequest">, offered: Offered) {
  return volumeCapabilities.map((capability) => accessOf(capability, offered));
}

function sourceOf(source: CsiReceived<"VolumeContentSource"> | null): ContentSource | undefined {
  if (source === null) return undefined;
  const { snapshot, volume } = source;
  if (snapshot !== null) return { kind: "snapshot", id: needed(snapshot.snapshotId, "snapshot_id") };
  if (volume !== null) return { kind: "volume", id: needed(volume.volumeId, "volume_id") };
  throw invalid("volume_content_source names neither a snapshot nor a volume");
}

function contentOf(context: DriverContext, { kind, id }: ContentSource): Content & { readonly node: string } {
  return kind === "snapshot" ? snapshotOf(context, id) : volumeOf(context, id);
}

function isSameSource(one: ContentSource | undefined, other: ContentSource | undefined): boolean {
  return one?.kind === other?.kind && one?.id === other?.id;
}
