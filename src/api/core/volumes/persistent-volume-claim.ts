import { ageColumn } from "../../definition/columns.ts";
import { defineKind } from "../../definition/define-kind.ts";
import type { RequestFacts } from "../../machinery/kind.ts";
import type { Draft } from "../../machinery/schema/object.ts";
import type {
  PersistentVolumeClaim as PersistentVolumeClaimObject,
  PersistentVolumeClaimSpec,
} from "../../types/core-v1.ts";
import { accessModesText } from "./access-modes.ts";
import { validateClaim, validateClaimStatus, validateClaimUpdate } from "./persistent-volume-claim-validation.ts";
import { classAnnotation } from "./volume-fields.ts";

const spec = "io.k8s.api.core.v1.PersistentVolumeClaimSpec";
const status = "io.k8s.api.core.v1.PersistentVolumeClaimStatus";

export const PersistentVolumeClaim = defineKind<PersistentVolumeClaimObject>("v1", "PersistentVolumeClaim", {
  defaults: (draft) => {
    draft.status ??= {};
    draft.status.phase ||= "Pending";
    draft.spec ??= {};
    defaultClaimSpec(draft.spec);
  },
  create: {
    prepare: (draft, request) => {
      draft.status = { phase: "Pending" };
      if (draft.spec === undefined) return;
      dropForeignNamespace(draft.spec, request);
      dropForeignSource(draft.spec);
      joinSources(draft.spec);
    },
    validate: (claim, at) => validateClaim(claim, at),
  },
  update: {
    prepare: (draft, old, request) => {
      if (draft.spec === undefined) return;
      if (old.spec?.dataSourceRef === undefined) dropForeignNamespace(draft.spec, request);
      if (old.spec?.dataSource === undefined && old.spec?.dataSourceRef === undefined) dropForeignSource(draft.spec);
      joinSources(draft.spec);
    },
    validate: validateClaimUpdate,
  },
  subresources: { status: { validate: validateClaimStatus } },
  columns: [
    {
      name: "Status",
      type: "string",
      doc: `${status}.phase`,
      cell: (claim) => (claim.metadata.deletionTimestamp === undefined ? (claim.status?.phase ?? "") : "Terminating"),
    },
    { name: "Volume", type: "string", doc: `${spec}.volumeName`, cell: (claim) => claim.spec?.volumeName ?? "" },
    {
      name: "Capacity",
      type: "string",
      doc: `${status}.capacity`,
      cell: (claim) => (claim.spec?.volumeName ? (claim.status?.capacity?.storage ?? "0") : ""),
    },
    {
      name: "Access Modes",
      type: "string",
      doc: `${status}.accessModes`,
      cell: (claim) => (claim.spec?.volumeName ? accessModesText(claim.status?.accessModes) : ""),
    },
    { name: "StorageClass", type: "string", description: "StorageClass of the pvc", cell: storageClassOf },
    {
      name: "VolumeAttributesClass",
      type: "string",
      description: "VolumeAttributesClass of the pvc",
      cell: (claim) => claim.spec?.volumeAttributesClassName ?? "<unset>",
    },
    ageColumn,
    {
      name: "VolumeMode",
      type: "string",
      priority: 1,
      doc: `${spec}.volumeMode`,
      cell: (claim) => claim.spec?.volumeMode ?? "<unset>",
    },
  ],
});

/** Also for claim templates of StatefulSets and for ephemeral volumes of pods. */
export function defaultClaimSpec(draft: Draft<PersistentVolumeClaimSpec>): void {
  draft.volumeMode ??= "Filesystem";
}

/** Sources of other namespaces are a feature whose gate is off by default: the whole reference goes. */
function dropForeignNamespace(draft: Draft<PersistentVolumeClaimSpec>, request: RequestFacts | undefined): void {
  if (request?.features.enabled("CrossNamespaceVolumeDataSource") === true) return;
  if (draft.dataSourceRef?.namespace) delete draft.dataSourceRef;
}

/** `dataSource` supports only claims and snapshots; other kinds are dropped there. */
function dropForeignSource(draft: Draft<PersistentVolumeClaimSpec>): void {
  const { apiGroup, kind } = draft.dataSource ?? {};
  const known =
    (kind === "PersistentVolumeClaim" && !apiGroup) ||
    (kind === "VolumeSnapshot" && apiGroup === "snapshot.storage.k8s.io");
  if (!known) delete draft.dataSource;
}

/** Both fields have the same value, whichever was set; only `dataSourceRef` can name another namespace. */
function joinSources(draft: Draft<PersistentVolumeClaimSpec>): void {
  const { dataSource, dataSourceRef } = draft;
  if (dataSource !== undefined && dataSourceRef === undefined) draft.dataSourceRef = { ...dataSource };
  else if (dataSourceRef !== undefined && dataSource === undefined && !dataSourceRef.namespace) {
    const { namespace: _, ...local } = dataSourceRef;
    draft.dataSource = local;
  }
}

function storageClassOf(claim: PersistentVolumeClaimObject): string {
  return claim.metadata.annotations?.[classAnnotation] ?? claim.spec?.storageClassName ?? "";
}
