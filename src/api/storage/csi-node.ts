import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { CSINode as CSINodeObject } from "../types/storage-v1.ts";
import { validateCsiNode, validateCsiNodeUpdate } from "./csi-validation.ts";

/** CSINode: the CSI drivers of a node. */
export const CSINode = defineKind<CSINodeObject>("storage.k8s.io/v1", "CSINode", {
  validate: validateCsiNode,
  update: { allowUnconditional: false, validate: validateCsiNodeUpdate },
  columns: [
    {
      name: "Drivers",
      type: "integer",
      doc: "columns.csiNode.Drivers",
      description: "How many CSI drivers the node has.",
      cell: ({ spec }) => (spec.drivers ?? []).length,
    },
    ageColumn,
  ],
});
