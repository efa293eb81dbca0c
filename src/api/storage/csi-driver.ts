import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { equalJson } from "../machinery/json/equal.ts";
import { addInt64 } from "../machinery/json/int64.ts";
import type { Json } from "../machinery/json/json.ts";
import type { CSIDriver as CSIDriverObject } from "../types/storage-v1.ts";
import { validateCsiDriver, validateCsiDriverUpdate } from "./csi-validation.ts";

const spec = "io.k8s.api.storage.v1.CSIDriverSpec";

const tokensMayBeLogged =
  "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes";

export const CSIDriver = defineKind<CSIDriverObject>("storage.k8s.io/v1", "CSIDriver", {
  defaults: ({ spec }) => {
    spec.attachRequired ??= true;
    spec.podInfoOnMount ??= false;
    spec.storageCapacity ??= false;
    spec.fsGroupPolicy ??= "ReadWriteOnceWithFSType";
    if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ["Persistent"];
    spec.requiresRepublish ??= false;
    spec.seLinuxMount ??= false;
  },
  update: {
    allowUnconditional: false,
    // It has no generation until its first change.
    prepare: ({ metadata, spec }, old) => {
      if (!equalJson(spec as Json, old.spec as unknown as Json))
        metadata.generation = addInt64(old.metadata.generation ?? 0, 1);
    },
    validate: validateCsiDriverUpdate,
  },
  validate: validateCsiDriver,
  warnings: ({ spec }) =>
    (spec.tokenRequests ?? []).length > 0 && spec.serviceAccountTokenInSecrets === undefined ? [tokensMayBeLogged] : [],
  columns: [
    {
      name: "AttachRequired",
      type: "boolean",
      doc: `${spec}.attachRequired`,
      cell: ({ spec }) => spec.attachRequired ?? true,
    },
    {
      name: "PodInfoOnMount",
      type: "boolean",
      doc: `${spec}.podInfoOnMount`,
      cell: ({ spec }) => spec.podInfoOnMount ?? false,
    },
    {
      name: "StorageCapacity",
      type: "boolean",
      doc: `${spec}.storageCapacity`,
      cell: ({ spec }) => spec.storageCapacity ?? false,
    },
    {
      name: "TokenRequests",
      type: "string",
      doc: `${spec}.tokenRequests`,
      cell: ({ spec }) => (spec.tokenRequests ?? []).map(({ audience }) => audience).join(",") || "<unset>",
    },
    {
      name: "RequiresRepublish",
      type: "boolean",
      doc: `${spec}.requiresRepublish`,
      cell: ({ spec }) => spec.requiresRepublish ?? false,
    },
    {
      name: "Modes",
      type: "string",
      doc: `${spec}.volumeLifecycleModes`,
      cell: ({ spec }) => (spec.volumeLifecycleModes ?? []).join(",") || "<none>",
    },
    ageColumn,
  ],
});
