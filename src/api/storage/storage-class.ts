import { ageColumn, nameColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { StorageClass as StorageClassObject } from "../types/storage-v1.ts";
import { validateStorageClass, validateStorageClassUpdate } from "./storage-class-validation.ts";

const type = "io.k8s.api.storage.v1.StorageClass";
const defaultClass = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

export const StorageClass = defineKind<StorageClassObject>("storage.k8s.io/v1", "StorageClass", {
  defaults: (draft) => {
    draft.reclaimPolicy ??= "Delete";
    draft.volumeBindingMode ??= "Immediate";
  },
  validate: validateStorageClass,
  update: { validate: validateStorageClassUpdate },
  columns: [
    { ...nameColumn, cell: ({ metadata }) => `${metadata.name ?? ""}${isDefaultClass(metadata) ? " (default)" : ""}` },
    { name: "Provisioner", type: "string", doc: `${type}.provisioner`, cell: ({ provisioner }) => provisioner },
    {
      name: "ReclaimPolicy",
      type: "string",
      doc: `${type}.reclaimPolicy`,
      cell: ({ reclaimPolicy }) => reclaimPolicy ?? "Delete",
    },
    {
      name: "VolumeBindingMode",
      type: "string",
      doc: `${type}.volumeBindingMode`,
      cell: ({ volumeBindingMode }) => volumeBindingMode ?? "Immediate",
    },
    {
      name: "AllowVolumeExpansion",
      type: "string",
      doc: `${type}.allowVolumeExpansion`,
      cell: ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
    },
    ageColumn,
  ],
});

/** The default class, for claims that name none. */
export function isDefaultClass({ annotations = {} }: StorageClassObject["metadata"]): boolean {
  return defaultClass.some((key) => annotations[key] === "true");
}
