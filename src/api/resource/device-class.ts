import { isExtendedResource } from "../core/index.ts";
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { same } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid } from "../machinery/errors/field-error.ts";
import { checkLongName, checkPrefix, checkQualifiedName } from "../machinery/names/names.ts";
import type { DeviceClass as DeviceClassObject, DeviceClassSpec } from "../types/resource-v1.ts";
import { mostConfigurations } from "./claim-validation.ts";
import { validateConfiguration } from "./device-configuration.ts";
import { validateSelectors } from "./device-selector.ts";
import { validateSlice } from "./lists.ts";

/** DeviceClass: a named selection of devices. */
export const DeviceClass = defineKind<DeviceClassObject>("resource.k8s.io/v1", "DeviceClass", {
  generation: "spec",
  validateName: (name, isPrefix) => (isPrefix ? checkPrefix(checkLongName) : checkLongName)(name),
  create: { validate: ({ spec }, path) => validateDeviceClass(spec, undefined, path.child("spec")) },
  update: { validate: ({ spec }, old, path) => validateDeviceClass(spec, old.spec, path.child("spec")) },
  columns: [ageColumn],
});

/** Selectors and configuration that stay as they were are not checked for what newer versions refuse. */
function validateDeviceClass(
  { selectors, config, extendedResourceName: extended }: DeviceClassSpec,
  old: DeviceClassSpec | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const storedConfig = old !== undefined && same(config, old.config);
  return [
    ...validateSelectors(selectors, old !== undefined && same(selectors, old.selectors), at.child("selectors")),
    ...validateSlice(
      config,
      mostConfigurations,
      (one, where) => validateConfiguration(one, storedConfig, where),
      at.child("config"),
    ),
    ...(extended === undefined || isExtendedResourceName(extended)
      ? []
      : [invalid(at.child("extendedResourceName"), extended, "must be a valid extended resource name")]),
  ];
}

/** A quota can limit the requests for it. */
function isExtendedResourceName(name: string): boolean {
  return isExtendedResource(name) && checkQualifiedName(`requests.${name}`).length === 0;
}
