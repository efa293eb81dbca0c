/** What the messages of CSI say about a volume of the API. */
import type { core } from "#api";
import { AccessMode, type CsiSent } from "../../csi/index.ts";

export type Volume = core.PersistentVolume;
export type VolumeClaim = core.PersistentVolumeClaim;

export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";

export interface CapabilityFacts {
  readonly accessModes: readonly string[];
  readonly isBlock: boolean;
  readonly fsType: string;
  readonly mountFlags: readonly string[];
}

type Mode = number;

/** One capability for each access mode: of volumes that are made. */
export function capabilitiesFor(facts: CapabilityFacts, hasSingleWriter: boolean): CsiSent<"VolumeCapability">[] {
  return facts.accessModes.map((mode) => capability(facts, modeOf([mode], hasSingleWriter)));
}

/** One capability for all access modes: of volumes that exist. */
export function capabilityOf({ spec = {} }: Volume, hasSingleWriter: boolean): CsiSent<"VolumeCapability"> {
  const facts = {
    accessModes: spec.accessModes ?? [],
    isBlock: spec.volumeMode === "Block",
    fsType: spec.csi?.fsType ?? "",
    mountFlags: spec.mountOptions ?? [],
  };
  return capability(facts, modeOf(facts.accessModes, hasSingleWriter));
}

function capability({ isBlock, fsType, mountFlags }: CapabilityFacts, mode: Mode): CsiSent<"VolumeCapability"> {
  const accessMode = { mode };
  return isBlock ? { accessMode, block: {} } : { accessMode, mount: { fsType, mountFlags } };
}

/** `hasSingleWriter`: the driver tells single and multiple writers on one node apart. */
function modeOf(modes: readonly string[], hasSingleWriter: boolean): Mode {
  if (modes.includes("ReadWriteOncePod")) {
    if (modes.length > 1) throw new Error("ReadWriteOncePod cannot be used with other access modes");
    if (!hasSingleWriter) return AccessMode.SINGLE_NODE_WRITER;
    return AccessMode.SINGLE_NODE_SINGLE_WRITER;
  }
  if (modes.includes("ReadWriteMany")) return AccessMode.MULTI_NODE_MULTI_WRITER;
  if (modes.includes("ReadOnlyMany") && modes.includes("ReadWriteOnce"))
    throw new Error("CSI does not support ReadOnlyMany and ReadWriteOnce on the same PersistentVolume");
  if (modes.includes("ReadOnlyMany")) return AccessMode.MULTI_NODE_READER_ONLY;
  if (modes.includes("ReadWriteOnce"))
    return hasSingleWriter ? AccessMode.SINGLE_NODE_MULTI_WRITER : AccessMode.SINGLE_NODE_WRITER;
  throw new Error(`unsupported access modes [${modes.join(" ")}]`);
}

/** The node that has the volume, for a driver with a controller on each node. */
export function nodeOfVolume({ spec }: Volume, nodeTopologyKey: string | undefined): string | undefined {
  if (nodeTopologyKey === undefined) return undefined;
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const found = terms.flatMap(({ matchExpressions = [] }) => matchExpressions);
  return found.find(({ key, operator }) => key === nodeTopologyKey && operator === "In")?.values?.[0];
}

export function isOfDriver({ spec }: Volume, driverName: string): boolean {
  return spec?.csi?.driver === driverName;
}

export function hasFinalizer({ metadata }: Pick<Volume, "metadata">, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}

/** Strategic merge patches: they leave the finalizers of others alone. */
export const addFinalizer = (finalizer: string) => ({ metadata: { finalizers: [finalizer] } });
export const removeFinalizer = (finalizer: string) => ({
  metadata: { "$deleteFromPrimitiveList/finalizers": [finalizer] },
});
