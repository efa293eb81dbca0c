/**
 * NodeStageVolume and NodeUnstageVolume: a volume's device, and its file system at the staging path.
 *
 *     blank? ──► format ══► record ──► attach ──► mount ──► grow, if the device is larger
 *
 * 1. A device is found by its image, never by a name that somebody passes on.
 * 2. What may hold data is never formatted: `isBlank` is false on the disk before anybody can write.
 * 3. Where the content of volumes is not trusted, a volume is a file system or a block device, and never becomes the
 *    other.
 * 4. Unstaging needs no record: whatever of this driver is mounted there goes.
 */
import { GrpcError } from "#grpc";
import type { CsiHandlers } from "../../csi/services.ts";
import type { Machine } from "../machine/machine.ts";
import { type Access, accessOf, isReadOnly } from "../rules/capabilities.ts";
import { defaultFileSystem, growsMounted } from "../rules/file-systems.ts";
import type { VolumeRecord } from "../rules/records.ts";
import { needed, neededMessage } from "../rules/requests.ts";
import { type DriverContext, deviceOf, volumeImage, volumeOf } from "./context.ts";
import { mountAt, unmountOwn } from "./mounted.ts";

type Handlers = Pick<CsiHandlers<"Node">, "NodeStageVolume" | "NodeUnstageVolume">;

export function staging(context: DriverContext, nodeId: string): Handlers {
  const { busy } = context;
  const machine = context.machineOf(nodeId);
  return {
    async NodeStageVolume({ volumeId, stagingTargetPath, volumeCapability }, { signal }) {
      needed(volumeId, "volume_id");
      needed(stagingTargetPath, "staging_target_path");
      const access = accessOf(neededMessage(volumeCapability, "volume_capability"), machine);
      return busy.hold([volumeId], async () => {
        const volume = ownVolume(context, volumeId, nodeId);
        const readOnly = isReadOnly(access) || volume.published?.readOnly === true;
        if (access.isBlock) await attachBlock(context, machine, volume, readOnly);
        else await mountVolume(context, machine, { volume, access, path: stagingTargetPath, readOnly }, signal);
        return {};
      });
    },
    async NodeUnstageVolume({ volumeId, stagingTargetPath }) {
      needed(volumeId, "volume_id");
      needed(stagingTargetPath, "staging_target_path");
      return busy.hold([volumeId], async () => {
        await unmountOwn(machine, stagingTargetPath, { keep: true });
        const device = await deviceOf(machine, volumeId);
        if (device === undefined) return {};
        const isUsed = (await machine.mounts()).some((mount) => mount.device === device.number);
        if (!isUsed) await machine.detach(device.number);
        return {};
      });
    },
  };
}

export function ownVolume(context: DriverContext, id: string, nodeId: string): VolumeRecord {
  const volume = volumeOf(context, id);
  if (volume.node === nodeId) return volume;
  throw new GrpcError("NOT_FOUND", `volume ${id} is on node ${volume.node}, not on ${nodeId}`);
}

/** Returns the device. */
export async function attachBlock(
  context: DriverContext,
  machine: Machine,
  volume: VolumeRecord,
  readOnly: boolean,
): Promise<string> {
  if (machine.trustsContent === false && volume.fsType !== undefined)
    throw new GrpcError("FAILED_PRECONDITION", `volume ${volume.id} holds ${volume.fsType}: it is no raw block volume`);
  if (volume.isBlank && !readOnly) await context.catalog.put("volumes", { ...volume, isBlank: false });
  return machine.attach(volumeImage(volume.id), readOnly);
}

export interface MountingVolume {
  readonly volume: VolumeRecord;
  readonly access: Access;
  readonly path: string;
  readonly readOnly: boolean;
}

export async function mountVolume(
  context: DriverContext,
  machine: Machine,
  { volume, access, path, readOnly }: MountingVolume,
  signal: AbortSignal,
): Promise<void> {
  const there = await mountAt(machine, path);
  if (there !== undefined) {
    const device = await deviceOf(machine, volume.id);
    if (there.device !== device?.number)
      throw new GrpcError("FAILED_PRECONDITION", `something else is mounted at ${path}`);
    if (there.readOnly !== readOnly)
      throw new GrpcError("ALREADY_EXISTS", `volume ${volume.id} is mounted at ${path} with another access mode`);
  }
  const formatted = await withFileSystem(context, machine, volume, access, signal);
  const { fsType, bytes, fsBytes } = formatted;
  const grows = fsBytes !== bytes && !readOnly;
  const growsHere = growsMounted(machine.fileSystems, fsType);
  const image = volumeImage(volume.id);
  if (grows && !growsHere && there === undefined) {
    await detachUnused(machine, volume.id);
    await machine.images.grow(image, fsType, bytes, signal);
  }
  // Also where it is only read: a file system that was not unmounted, as in a clone, first repeats its journal.
  const device = await machine.attach(image, false);
  if (there === undefined) await machine.mount(device, path, { fsType, flags: access.mountFlags, readOnly });
  if (!grows || (!growsHere && there !== undefined)) return;
  if (growsHere) {
    await machine.refresh(device);
    await machine.growFileSystem(fsType, device, path, signal);
  }
  await context.catalog.put("volumes", { ...formatted, fsBytes: bytes });
}

/** Its image is about to be replaced. It is not mounted here; elsewhere, the detach fails. */
async function detachUnused(machine: Machine, id: string): Promise<void> {
  const device = await deviceOf(machine, id);
  if (device === undefined) return;
  const mounted = (await machine.mounts()).find((mount) => mount.device === device.number);
  if (mounted !== undefined) throw new GrpcError("FAILED_PRECONDITION", `volume ${id} is mounted at ${mounted.path}`);
  await machine.detach(device.number);
}

async function withFileSystem(
  context: DriverContext,
  machine: Machine,
  volume: VolumeRecord,
  { fsType: wanted }: Access,
  signal: AbortSignal,
): Promise<VolumeRecord & { readonly fsType: string }> {
  const { images } = machine;
  const { id, bytes } = volume;
  const image = volumeImage(id);
  if (volume.isBlank) {
    await detachUnused(machine, id);
    const fsType = wanted || defaultFileSystem(machine.fileSystems, bytes);
    await images.format(image, bytes, fsType, signal);
    const formatted = { ...volume, isBlank: false, fsType, fsBytes: bytes };
    await context.catalog.put("volumes", formatted);
    return formatted;
  }
  if (machine.trustsContent === false && volume.fsType === undefined)
    throw new GrpcError("FAILED_PRECONDITION", `volume ${id} is a raw block volume: what is in it is not mounted here`);
  const fsType = volume.fsType ?? (await images.fsTypeOf(image));
  if (fsType === undefined)
    throw new GrpcError("FAILED_PRECONDITION", `volume ${id} holds data but no file system: it is not formatted`);
  if (wanted !== "" && wanted !== fsType)
    throw new GrpcError("FAILED_PRECONDITION", `volume ${id} holds ${fsType}, not ${wanted}`);
  return { ...volume, fsType };
}
