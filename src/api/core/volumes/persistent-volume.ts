import { ageColumn } from "../../definition/columns.ts";
import { defineKind } from "../../definition/define-kind.ts";
import type { RequestFacts } from "../../machinery/kind.ts";
import { formatTime, instantOf } from "../../machinery/scalars/time.ts";
import type { PersistentVolume as PersistentVolumeObject } from "../../types/core-v1.ts";
import { accessModesText } from "./access-modes.ts";
import { validatePersistentVolume, validatePersistentVolumeUpdate } from "./persistent-volume-validation.ts";
import { classAnnotation } from "./volume-fields.ts";

const spec = "io.k8s.api.core.v1.PersistentVolumeSpec";
const status = "io.k8s.api.core.v1.PersistentVolumeStatus";

export const PersistentVolume = defineKind<PersistentVolumeObject>("v1", "PersistentVolume", {
  defaults: (draft) => {
    draft.status ??= {};
    draft.status.phase ||= "Pending";
    draft.spec ??= {};
    draft.spec.persistentVolumeReclaimPolicy ||= "Retain";
    draft.spec.volumeMode ??= "Filesystem";
    if (draft.spec.hostPath !== undefined) draft.spec.hostPath.type ??= "";
  },
  create: {
    prepare: (draft, request) => {
      draft.status = { phase: "Pending", ...transition(request) };
    },
  },
  validate: validatePersistentVolume,
  update: { validate: validatePersistentVolumeUpdate },
  subresources: {
    status: {
      prepare: (draft, old, request) => {
        const next = draft.status;
        if (next === undefined || next.phase === old.status?.phase) return;
        // A transition time that the client sets is kept.
        if (next.lastPhaseTransitionTime === old.status?.lastPhaseTransitionTime)
          Object.assign(next, transition(request));
      },
    },
  },
  columns: [
    {
      name: "Capacity",
      type: "string",
      doc: `${spec}.capacity`,
      cell: (volume) => volume.spec?.capacity?.storage ?? "0",
    },
    {
      name: "Access Modes",
      type: "string",
      doc: `${spec}.accessModes`,
      cell: (volume) => accessModesText(volume.spec?.accessModes),
    },
    {
      name: "Reclaim Policy",
      type: "string",
      doc: `${spec}.persistentVolumeReclaimPolicy`,
      cell: (volume) => volume.spec?.persistentVolumeReclaimPolicy ?? "",
    },
    {
      name: "Status",
      type: "string",
      doc: `${status}.phase`,
      cell: (volume) =>
        volume.metadata.deletionTimestamp === undefined ? (volume.status?.phase ?? "") : "Terminating",
    },
    { name: "Claim", type: "string", doc: `${spec}.claimRef`, cell: claimOf },
    { name: "StorageClass", type: "string", description: "StorageClass of the pv", cell: storageClassOf },
    {
      name: "VolumeAttributesClass",
      type: "string",
      description: "VolumeAttributesClass of the pv",
      cell: (volume) => volume.spec?.volumeAttributesClassName ?? "<unset>",
    },
    { name: "Reason", type: "string", doc: `${status}.reason`, cell: (volume) => volume.status?.reason ?? "" },
    ageColumn,
    {
      name: "VolumeMode",
      type: "string",
      priority: 1,
      doc: `${spec}.volumeMode`,
      cell: (volume) => volume.spec?.volumeMode ?? "<unset>",
    },
  ],
});

function transition(request: RequestFacts | undefined): { lastPhaseTransitionTime?: string } {
  return request === undefined ? {} : { lastPhaseTransitionTime: formatTime(instantOf(request.now)) };
}

function claimOf(volume: PersistentVolumeObject): string {
  const claim = volume.spec?.claimRef;
  return claim === undefined ? "" : `${claim.namespace ?? ""}/${claim.name ?? ""}`;
}

function storageClassOf(volume: PersistentVolumeObject): string {
  return volume.metadata.annotations?.[classAnnotation] ?? volume.spec?.storageClassName ?? "";
}
