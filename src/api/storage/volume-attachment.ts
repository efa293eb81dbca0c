import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { VolumeAttachment as VolumeAttachmentObject } from "../types/storage-v1.ts";
import {
  validateAttachment,
  validateAttachmentStatus,
  validateAttachmentUpdate,
  validateNewAttachment,
} from "./volume-attachment-validation.ts";

const spec = "io.k8s.api.storage.v1.VolumeAttachmentSpec";

export const VolumeAttachment = defineKind<VolumeAttachmentObject>("storage.k8s.io/v1", "VolumeAttachment", {
  create: { validate: validateNewAttachment },
  validate: validateAttachment,
  update: { allowUnconditional: false, validate: validateAttachmentUpdate },
  subresources: { status: { keeps: "nothing", validate: validateAttachmentStatus } },
  columns: [
    { name: "Attacher", type: "string", format: "name", doc: `${spec}.attacher`, cell: ({ spec }) => spec.attacher },
    {
      name: "PV",
      type: "string",
      doc: "io.k8s.api.storage.v1.VolumeAttachmentSource.persistentVolumeName",
      cell: ({ spec }) => spec.source.persistentVolumeName ?? "",
    },
    { name: "Node", type: "string", doc: `${spec}.nodeName`, cell: ({ spec }) => spec.nodeName },
    {
      name: "Attached",
      type: "boolean",
      doc: "io.k8s.api.storage.v1.VolumeAttachmentStatus.attached",
      cell: ({ status }) => status?.attached ?? false,
    },
    ageColumn,
  ],
});
