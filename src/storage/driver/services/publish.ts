/**
 * NodePublishVolume and NodeUnpublishVolume: a volume where a Pod sees it.
 *
 *     staged    ──► bind mount of the staging path, or of the device
 *     inline    ──► volume made ──► mounted ··· unmounted ──► volume removed
 *
 * 1. A volume with one writer is published at one path.
 */
import { GrpcError } from "#grpc";
import { AccessMode } from "../../csi/enums.ts";
import type { CsiHandlers, CsiReceived } from "../../csi/services.ts";
import type { Machine } from "../machine/machine.ts";
import { type Access, accessOf, isReadOnly } from "../rules/capabilities.ts";
import { leastBytesOf } from "../rules/file-systems.ts";
import { EPHEMERAL, isFileName } from "../rules/names.ts";
import { invalid, needed, neededMessage, refuseKeys } from "../rules/requests.ts";
import { inlineSize, sizeFor } from "../rules/sizes.ts";
import { type DriverContext, deviceOf } from "./context.ts";
import { makeVolume, removeVolume } from "./make-volume.ts";
import { mountAt, unmountOwn } from "./mounted.ts";
import { reserving } from "./room.ts";
import { attachBlock, mountVolume, ownVolume } from "./stage.ts";

type Handlers = Pick<CsiHandlers<"Node">, "NodePublishVolume" | "NodeUnpublishVolume">;
type Request = CsiReceived<"NodePublishVolumeRequest">;

/** How the kubelet names an inline volume. */
const INLINE = /^csi-[0-9a-f]{64}$/;
const SIZE = "size";

export function publishing(context: DriverContext, nodeId: string): Handlers {
  const { busy, catalog } = context;
  const machine = context.machineOf(nodeId);
  return {
    async NodePublishVolume(request, { signal }) {
      const volumeId = needed(request.volumeId, "volume_id");
      needed(request.targetPath, "target_path");
      const access = accessOf(neededMessage(request.volumeCapability, "volume_capability"), machine);
      return busy.hold([volumeId], async () => {
        const readOnly = request.readonly || isReadOnly(access);
        if (isInline(request)) await publishInline(context, machine, nodeId, { request, access, readOnly }, signal);
        else await publishStaged(context, machine, nodeId, { request, access, readOnly });
        return {};
      });
    },
    async NodeUnpublishVolume({ volumeId, targetPath }) {
      needed(volumeId, "volume_id");
      needed(targetPath, "target_path");
      return busy.hold([volumeId], async () => {
        await unmountOwn(machine, targetPath);
        const volume = catalog.volumes.get(volumeId);
        if (volume?.isEphemeral === true) await removeVolume(context, volume);
        return {};
      });
    },
  };
}

interface Publication {
  readonly request: Request;
  readonly access: Access;
  readonly readOnly: boolean;
}

/** Where the CSIDriver does not ask for facts about Pods, the kubelet's form of the id tells. */
function isInline({ volumeId, volumeContext, stagingTargetPath }: Request): boolean {
  const said = volumeContext[EPHEMERAL];
  return said === undefined ? stagingTargetPath === "" && INLINE.test(volumeId) : said === "true";
}

async function publishStaged(
  context: DriverContext,
  machine: Machine,
  nodeId: string,
  { request, access, readOnly }: Publication,
): Promise<void> {
  const { volumeId, stagingTargetPath, targetPath } = request;
  const volume = ownVolume(context, volumeId, nodeId);
  if (stagingTargetPath === "")
    throw new GrpcError("FAILED_PRECONDITION", "staging_target_path is missing: the volume has to be staged first");
  const device = await deviceOf(machine, volumeId);
  const staged = access.isBlock ? undefined : await mountAt(machine, stagingTargetPath);
  if (!access.isBlock && (staged === undefined || staged.device !== device?.number))
    throw new GrpcError("FAILED_PRECONDITION", `volume ${volumeId} is not staged at ${stagingTargetPath}`);
  const mounts = (await machine.mounts()).filter((mount) => mount.device === device?.number && mount.isWhole);
  const others = mounts.filter(({ path }) => path !== stagingTargetPath && path !== targetPath);
  if (access.mode === AccessMode.SINGLE_NODE_SINGLE_WRITER && others.length > 0)
    throw new GrpcError(
      "FAILED_PRECONDITION",
      `volume ${volumeId} has one writer, and is published at ${others[0]?.path}`,
    );
  const there = await mountAt(machine, targetPath);
  if (there !== undefined) {
    if (there.device !== device?.number)
      throw new GrpcError("FAILED_PRECONDITION", `something else is mounted at ${targetPath}`);
    if (!access.isBlock && there.readOnly !== (readOnly || staged?.readOnly === true))
      throw new GrpcError(
        "ALREADY_EXISTS",
        `volume ${volumeId} is published at ${targetPath} with another access mode`,
      );
    return;
  }
  if (!access.isBlock) await machine.bind(stagingTargetPath, targetPath, readOnly || staged?.readOnly === true);
  else await machine.bindDevice(await attachBlock(context, machine, volume, readOnly), targetPath);
}

async function publishInline(
  context: DriverContext,
  machine: Machine,
  nodeId: string,
  { request, access, readOnly }: Publication,
  signal: AbortSignal,
): Promise<void> {
  const { volumeId, volumeContext, targetPath } = request;
  refuseKeys(volumeContext, "volume_context", [SIZE]);
  if (access.isBlock) throw invalid("an inline volume is a file system, not a block device");
  if (!isFileName(volumeId)) throw invalid(`volume_id ${volumeId} cannot name an inline volume`);
  const known = context.catalog.volumes.get(volumeId);
  if (known !== undefined && known.isEphemeral !== true)
    throw new GrpcError("ALREADY_EXISTS", `volume ${volumeId} is not an inline volume`);
  const volume = known ?? (await makeInline());
  await mountVolume(context, machine, { volume, access, path: targetPath, readOnly }, signal);

  function makeInline() {
    const smallest = leastBytesOf(machine.fileSystems, access.fsType);
    const bytes = sizeFor({ required: inlineSize(volumeContext[SIZE]), limit: 0 }, smallest);
    const draft = { id: volumeId, seq: context.catalog.nextSeq(), name: "", node: nodeId, bytes, isEphemeral: true };
    return reserving(context, nodeId, bytes, () => makeVolume(context, draft, undefined, signal));
  }
}
