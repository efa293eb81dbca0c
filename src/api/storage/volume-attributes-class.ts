import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { forbidden } from "../machinery/errors/field-error.ts";
import { equalJson } from "../machinery/json/equal.ts";
import type { Json } from "../machinery/json/json.ts";
import type { VolumeAttributesClass as VolumeAttributesClassObject } from "../types/storage-v1.ts";
import { parameterFaults, provisionerFaults } from "./storage-class-validation.ts";

/** VolumeAttributesClass: parameters of a volume that its driver interprets. */
export const VolumeAttributesClass = defineKind<VolumeAttributesClassObject>(
  "storage.k8s.io/v1",
  "VolumeAttributesClass",
  {
    validate: ({ driverName, parameters }, path) => [
      ...provisionerFaults(driverName, path.child("driverName")),
      ...parameterFaults(parameters, false, path.child("parameters")),
    ],
    update: {
      validate: (next, old, path) => [
        ...(next.driverName === old.driverName
          ? []
          : [forbidden(path.child("driverName"), "updates to driverName are forbidden.")]),
        ...(equalJson((next.parameters ?? {}) as Json, (old.parameters ?? {}) as Json)
          ? []
          : [forbidden(path.child("parameters"), "updates to parameters are forbidden.")]),
      ],
    },
    columns: [
      {
        name: "DriverName",
        type: "string",
        doc: "io.k8s.api.storage.v1.VolumeAttributesClass.driverName",
        cell: ({ driverName }) => driverName,
      },
      ageColumn,
    ],
  },
);
