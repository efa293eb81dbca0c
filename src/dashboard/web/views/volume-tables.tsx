/** Tables of claims, volumes, classes and snapshots. */
import type { storage } from "#api";
import { CLAIMS, SNAPSHOTS, STORAGE_CLASSES, VOLUMES } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { quantity } from "../model/quantity.ts";
import { claimState, modesOf, sourceOf, volumeState } from "../model/volume.ts";
import { ResourceTable } from "../parts/resource-table.tsx";
import { State } from "../parts/state.tsx";
import type { TableColumn } from "../parts/table.tsx";
import type { Claim, Volume } from "./claim.tsx";

type StorageClass = storage.StorageClass & KubeObject;

interface Snapshot extends KubeObject {
  readonly spec?: {
    readonly source?: { readonly persistentVolumeClaimName?: string; readonly volumeSnapshotContentName?: string };
  };
  readonly status?: {
    readonly readyToUse?: boolean;
    readonly restoreSize?: string;
    readonly error?: { readonly message?: string };
  };
}

/** A column of text. */
function text<T>(title: string, width: string, of: (row: T) => string, wide = false): TableColumn<T> {
  return { title, width, wide, key: of, cell: (row) => <span title={of(row)}>{of(row)}</span> };
}

const CLAIM_COLUMNS: readonly TableColumn<Claim>[] = [
  {
    title: "Status",
    width: "minmax(90px, 1.2fr)",
    key: (claim) => claimState(claim).word,
    cell: (claim) => <State tone={claimState(claim).tone} words={claimState(claim).word} />,
  },
  {
    title: "Size",
    width: "72px",
    numeric: true,
    key: ({ spec, status }) => quantity(status?.capacity?.storage ?? spec?.resources?.requests?.storage),
    cell: ({ spec, status }) => status?.capacity?.storage ?? spec?.resources?.requests?.storage,
  },
  text("Class", "minmax(70px, 1fr)", ({ spec }) => spec?.storageClassName ?? "", true),
  text("Access", "minmax(60px, 0.7fr)", ({ spec }) => modesOf(spec?.accessModes), true),
  text("Volume", "minmax(90px, 2fr)", ({ spec }) => spec?.volumeName ?? "", true),
];

export const ClaimsTable = () => (
  <ResourceTable<Claim> title="Claims" resource={CLAIMS} columns={CLAIM_COLUMNS} empty="There are no claims here." />
);

const VOLUME_COLUMNS: readonly TableColumn<Volume>[] = [
  {
    title: "Status",
    width: "minmax(90px, 1.2fr)",
    key: (volume) => volumeState(volume).word,
    cell: (volume) => <State tone={volumeState(volume).tone} words={volumeState(volume).word} />,
  },
  {
    title: "Size",
    width: "72px",
    numeric: true,
    key: ({ spec }) => quantity(spec?.capacity?.storage),
    cell: ({ spec }) => spec?.capacity?.storage,
  },
  text(
    "Claim",
    "minmax(90px, 1.5fr)",
    ({ spec }) => (spec?.claimRef === undefined ? "" : `${spec.claimRef.namespace}/${spec.claimRef.name}`),
    true,
  ),
  text("Reclaim", "minmax(60px, 0.7fr)", ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? "", true),
  text("Source", "minmax(90px, 1.5fr)", sourceOf, true),
];

export const VolumesTable = () => (
  <ResourceTable<Volume> title="Volumes" resource={VOLUMES} columns={VOLUME_COLUMNS} empty="There are no volumes." />
);

const DEFAULT = "storageclass.kubernetes.io/is-default-class";
const isDefault = ({ metadata }: StorageClass) =>
  (metadata as { annotations?: Readonly<Record<string, string>> }).annotations?.[DEFAULT] === "true";

const CLASS_COLUMNS: readonly TableColumn<StorageClass>[] = [
  text("Provisioner", "minmax(110px, 2fr)", ({ provisioner }) => provisioner),
  text("Default", "64px", (each) => (isDefault(each) ? "yes" : ""), true),
  text("Binding", "minmax(80px, 1.2fr)", ({ volumeBindingMode }) => volumeBindingMode ?? "Immediate", true),
  text("Reclaim", "minmax(60px, 0.7fr)", ({ reclaimPolicy }) => reclaimPolicy ?? "Delete", true),
  text("Expansion", "84px", ({ allowVolumeExpansion }) => (allowVolumeExpansion === true ? "allowed" : "no"), true),
];

export const ClassesTable = () => (
  <ResourceTable<StorageClass>
    title="Classes"
    resource={STORAGE_CLASSES}
    columns={CLASS_COLUMNS}
    empty="There are no storage classes."
  />
);

const snapshotState = ({ status }: Snapshot) =>
  status?.error !== undefined
    ? ({ tone: "bad", words: status.error.message ?? "failed" } as const)
    : status?.readyToUse === true
      ? ({ tone: "good", words: "ready" } as const)
      : ({ tone: "busy", words: "not ready" } as const);

const SNAPSHOT_COLUMNS: readonly TableColumn<Snapshot>[] = [
  {
    title: "Status",
    width: "minmax(90px, 1.2fr)",
    key: (snapshot) => snapshotState(snapshot).words,
    cell: (snapshot) => <State {...snapshotState(snapshot)} />,
  },
  text("Size", "72px", ({ status }) => status?.restoreSize ?? ""),
  text(
    "Of",
    "minmax(90px, 1.5fr)",
    ({ spec }) => spec?.source?.persistentVolumeClaimName ?? spec?.source?.volumeSnapshotContentName ?? "",
    true,
  ),
];

export const SnapshotsTable = () => (
  <ResourceTable<Snapshot>
    title="Snapshots"
    resource={SNAPSHOTS}
    columns={SNAPSHOT_COLUMNS}
    empty="There are no snapshots here."
  />
);
