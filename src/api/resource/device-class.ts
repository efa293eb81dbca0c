import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { DeviceClass as DeviceClassObject } from "../types/resource-v1.ts";
import { validateDeviceClass } from "./device-validation.ts";

/** DeviceClass: a named selection of devices. */
export const DeviceClass = defineKind<DeviceClassObject>("resource.k8s.io/v1", "DeviceClass", {
  generation: "spec",
  validate: ({ spec }, path) => validateDeviceClass(spec, path.child("spec")),
  columns: [ageColumn],
});
