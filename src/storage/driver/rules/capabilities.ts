/** Which capabilities a volume of this driver has: access from one node, as a file system or a block device. Pure. */
import { AccessMode } from "../../csi/enums.ts";
import type { CsiReceived } from "../../csi/services.ts";
import type { FileSystem } from "./file-systems.ts";
import { invalid } from "./requests.ts";

export type Capability = CsiReceived<"VolumeCapability">;

/** What a caller wants of a volume. */
export interface Access {
  readonly mode: number;
  readonly isBlock: boolean;
  /** Empty: the driver's choice. */
  readonly fsType: string;
  readonly mountFlags: readonly string[];
}

const SINGLE_NODE: readonly number[] = [
  AccessMode.SINGLE_NODE_WRITER,
  AccessMode.SINGLE_NODE_READER_ONLY,
  AccessMode.SINGLE_NODE_SINGLE_WRITER,
  AccessMode.SINGLE_NODE_MULTI_WRITER,
];

/** What a machine has. */
export interface Offered {
  readonly fileSystems: readonly FileSystem[];
  readonly blockProblem: string | undefined;
  /** Default: any. */
  readonly allowsMountFlag?: ((flag: string) => boolean) | undefined;
}

/** A sentence if the driver has no such volumes. */
export function capabilityProblem(capability: Capability, offered: Offered): string | undefined {
  const { fileSystems, blockProblem, allowsMountFlag = () => true } = offered;
  const { accessMode, block, mount } = capability;
  const mode = accessMode?.mode ?? AccessMode.UNKNOWN;
  if (block === null && mount === null) return "the volume capability has no access type: mount or block";
  if (mode === AccessMode.UNKNOWN) return "the volume capability has no access mode";
  if (!SINGLE_NODE.includes(mode)) {
    const name = Object.entries(AccessMode).find(([, value]) => value === mode)?.[0] ?? String(mode);
    return `access mode ${name} is not possible: a volume of this driver is on the disk of one node`;
  }
  if (mount === null && blockProblem !== undefined) return `raw block volumes are not possible here: ${blockProblem}`;
  const fsType = mount?.fsType ?? "";
  if (fsType !== "" && !fileSystems.some(({ type }) => type === fsType))
    return `file system ${fsType} cannot be made here: use one of ${fileSystems.map(({ type }) => type).join(", ")}`;
  const refused = mount?.mountFlags.find((flag) => !allowsMountFlag(flag));
  if (refused !== undefined) return `mount option ${refused} is not possible on this node`;
  return undefined;
}

export function accessOf(capability: Capability, offered: Offered): Access {
  const problem = capabilityProblem(capability, offered);
  if (problem !== undefined) throw invalid(problem);
  const { accessMode, mount } = capability;
  return {
    mode: accessMode?.mode ?? AccessMode.UNKNOWN,
    isBlock: mount === null,
    fsType: mount?.fsType ?? "",
    mountFlags: mount?.mountFlags ?? [],
  };
}

export function isReadOnly({ mode }: Pick<Access, "mode">): boolean {
  return mode === AccessMode.SINGLE_NODE_READER_ONLY;
}
