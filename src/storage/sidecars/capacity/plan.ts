/** CSIStorageCapacity objects: one for each class and topology segment. Pure. */
import { createHash } from "node:crypto";
import { type core, kinds, type storage } from "#api";
import type { Write } from "#controllers";
import { quantityText } from "../provisioner/request.ts";
import type { Segments } from "../provisioner/topology.ts";
import type { OwnerReference } from "./owner.ts";

type StorageCapacity = storage.CSIStorageCapacity;

const DRIVER_LABEL = "csi.storage.k8s.io/drivername";
const MANAGER_LABEL = "csi.storage.k8s.io/managed-by";

export interface Place {
  readonly className: string;
  readonly segments: Segments;
}

/** Who manages capacities: others leave them alone. */
export interface Owner {
  readonly driverName: string;
  readonly manager: string;
  readonly namespace: string;
  /** With which the objects go. Default: they stay. */
  readonly reference?: OwnerReference | undefined;
}

export interface Measured {
  readonly capacityBytes: bigint;
  readonly maximumBytes: bigint | undefined;
}

/** Equal places have equal keys. */
export function keyOf({ className, segments }: Place): string {
  const sorted = Object.entries(segments).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([className, sorted]);
}

export function placeOf(key: string): Place {
  const [className, sorted] = JSON.parse(key) as [string, [string, string][]];
  return { className, segments: Object.fromEntries(sorted) };
}

/** The key of an object that the owner manages; undefined for others. */
export function keyOfCapacity(object: StorageCapacity, { driverName, manager, namespace }: Owner): string | undefined {
  const { labels = {} } = object.metadata;
  if (labels[DRIVER_LABEL] !== driverName || labels[MANAGER_LABEL] !== manager) return undefined;
  if (object.metadata.namespace !== namespace) return undefined;
  return keyOf({ className: object.storageClassName, segments: object.nodeTopology?.matchLabels ?? {} });
}

/** `measured` undefined: nobody needs the objects any more. */
export function capacityWrites(
  place: Place,
  measured: Measured | undefined,
  existing: readonly StorageCapacity[],
  owner: Owner,
): readonly Write[] {
  const [first, ...surplus] = measured === undefined ? [undefined, ...existing] : existing;
  const removed = surplus.map(
    (object) => ({ verb: "delete", resource: kinds.CSIStorageCapacity, object: object as StorageCapacity }) as const,
  );
  if (measured === undefined) return removed;
  const wanted = {
    capacity: quantityText(measured.capacityBytes),
    ...(measured.maximumBytes !== undefined && { maximumVolumeSize: quantityText(measured.maximumBytes) }),
  };
  if (first === undefined)
    return [
      ...removed,
      { verb: "create", resource: kinds.CSIStorageCapacity, object: newCapacity(place, wanted, owner) },
    ];
  const isSame = first.capacity === wanted.capacity && first.maximumVolumeSize === wanted.maximumVolumeSize;
  const { reference } = owner;
  const { metadata } = first;
  const isOwned =
    reference === undefined || metadata.ownerReferences?.some(({ uid }) => uid === reference.uid) === true;
  if (isSame && isOwned) return removed;
  const { capacity: _, maximumVolumeSize: __, ...rest } = first;
  // One of an earlier deployment gets the new owner: it must not go with the old one.
  const owned = isOwned ? rest : { ...rest, metadata: { ...metadata, ownerReferences: [reference] } };
  return [...removed, { verb: "update", resource: kinds.CSIStorageCapacity, object: { ...owned, ...wanted } }];
}

function newCapacity(place: Place, wanted: object, owner: Owner): StorageCapacity {
  const { driverName, manager, namespace, reference } = owner;
  // A name by content: after a crash the same object is made again.
  const hash = createHash("sha256")
    .update(`${driverName} ${manager} ${keyOf(place)}`)
    .digest("hex")
    .slice(0, 10);
  return {
    metadata: {
      name: `csisc-${hash}`,
      namespace,
      labels: { [DRIVER_LABEL]: driverName, [MANAGER_LABEL]: manager },
      ...(reference !== undefined && { ownerReferences: [reference] }),
    },
    storageClassName: place.className,
    nodeTopology: { matchLabels: { ...place.segments } },
    ...wanted,
  };
}

/** The segments of a volume that is in one place. */
export function segmentsOfVolume({ spec }: core.PersistentVolume): Segments {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const expressions = terms.length === 1 ? (terms[0]?.matchExpressions ?? []) : [];
  const found = new Map<string, string>();
  for (const { key, values = [] } of expressions) {
    const [value] = values;
    if (value !== undefined && values.length === 1) found.set(key, value);
  }
  return Object.fromEntries(found);
}
