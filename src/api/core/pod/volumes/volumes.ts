/**
 * The volumes of a pod.
 *
 * 1. A volume has exactly one source; further ones are reported but not validated.
 * 2. Only valid volumes can be mounted: a mount of another one is reported as not found.
 */

import { fits, requireFits } from "../../../definition/field-checks.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
} from "../../../machinery/errors/field-error.ts";
import { goQuote } from "../../../machinery/json/go-text.ts";
import { checkDns1123Label, checkDns1123Subdomain } from "../../../machinery/names/names.ts";
import { compareQuantities, parseQuantity, zeroQuantity } from "../../../machinery/scalars/quantity.ts";
import type { ObjectMeta } from "../../../machinery/schema/object.ts";
import type { Volume } from "../../../types/core-v1.ts";
import { validateHostPath, validateNfs } from "../../volumes/current-sources.ts";
import * as legacy from "../../volumes/legacy-sources.ts";
import type { PodValidationOptions } from "../fields/validation-options.ts";
import { validateDownwardApi, validateProjected } from "./projected.ts";
import * as source from "./sources.ts";

export interface VolumeContext {
  readonly name: string;
  /** The metadata of the pod; undefined in a template. */
  readonly meta: ObjectMeta | undefined;
  readonly options: PodValidationOptions;
}

export interface CheckedVolumes {
  readonly byName: ReadonlyMap<string, Volume>;
  readonly errors: readonly FieldError[];
}

export function validateVolumes(
  volumes: readonly Volume[],
  meta: ObjectMeta | undefined,
  at: FieldPath,
  options: PodValidationOptions,
): CheckedVolumes {
  const errors: FieldError[] = [];
  const byName = new Map<string, Volume>();
  const created = claimsMadeFor(volumes, meta);
  for (const [i, volume] of volumes.entries()) {
    const path = at.index(i);
    const faults = [
      ...validateSource(volume, path, { name: volume.name, meta, options }),
      ...requireFits(checkDns1123Label, volume.name, path.child("name")),
    ];
    if (byName.has(volume.name)) faults.push(duplicate(path.child("name"), volume.name));
    if (faults.length === 0) byName.set(volume.name, volume);
    errors.push(...faults);
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claim !== undefined && created.has(claim)) {
      const where = path.child("persistentVolumeClaim", "claimName");
      errors.push(invalid(where, claim, "must not reference a PVC that gets created for an ephemeral volume"));
    }
  }
  return { byName, errors };
}

function claimsMadeFor(volumes: readonly Volume[], meta: ObjectMeta | undefined): ReadonlySet<string> {
  if (!meta?.name) return new Set();
  return new Set(volumes.filter(({ ephemeral }) => ephemeral !== undefined).map(({ name }) => `${meta.name}-${name}`));
}

type SourceName = Exclude<keyof Volume, "name">;
type SourceCheck = (volume: Volume, at: FieldPath, context: VolumeContext) => readonly FieldError[] | undefined;
interface SourceRule {
  /** How the refusal names a surplus source. */
  readonly label: string;
  readonly check: SourceCheck;
}

function rule<K extends SourceName>(
  name: K,
  check: (value: NonNullable<Volume[K]>, at: FieldPath, context: VolumeContext) => readonly FieldError[],
  { label = name, at = name }: { readonly label?: string; readonly at?: string } = {},
): SourceRule {
  return {
    label,
    check: (volume, path, context) => {
      const value = volume[name];
      return value === undefined ? undefined : check(value as NonNullable<Volume[K]>, path.child(at), context);
    },
  };
}

/**
 * In the order of precedence: the first source that is set counts. Some paths differ from the field's name, as in
 * Kubernetes.
 */
const rules: readonly SourceRule[] = [
  rule("emptyDir", validateEmptyDir),
  rule("hostPath", validateHostPath),
  rule("gitRepo", source.validateGitRepo),
  rule("gcePersistentDisk", legacy.validateGcePersistentDisk, { at: "persistentDisk" }),
  rule("awsElasticBlockStore", legacy.validateAwsElasticBlockStore),
  rule("secret", source.validateSecret),
  rule("nfs", validateNfs),
  rule("iscsi", validateIscsi),
  rule("glusterfs", legacy.validateGlusterfs),
  rule("flocker", legacy.validateFlocker),
  rule("persistentVolumeClaim", source.validateClaimReference),
  rule("rbd", legacy.validateRbd),
  rule("cinder", legacy.validateCinder),
  rule("cephfs", legacy.validateCephFs, { label: "cephFS" }),
  rule("quobyte", legacy.validateQuobyte),
  rule("downwardAPI", validateDownwardApi, { label: "downwarAPI" }),
  rule("fc", legacy.validateFibreChannel),
  rule("flexVolume", legacy.validateFlexVolume),
  rule("configMap", source.validateConfigMap),
  rule("azureFile", legacy.validateAzureFile),
  rule("vsphereVolume", legacy.validateVsphere),
  rule("photonPersistentDisk", legacy.validatePhoton),
  rule("portworxVolume", legacy.validatePortworx),
  rule("azureDisk", legacy.validateAzureDisk),
  rule("storageos", legacy.validateStorageOs),
  rule("projected", (value, at, { options }) => validateProjected(value, at, options)),
  rule("scaleIO", legacy.validateScaleIo),
  rule("csi", source.validateCsi),
  rule("ephemeral", source.validateEphemeral),
  rule("image", (value, at, { options }) => source.validateImage(value, at, options)),
];

function validateSource(volume: Volume, at: FieldPath, context: VolumeContext): readonly FieldError[] {
  const errors: FieldError[] = [];
  let found = false;
  for (const { label, check } of rules) {
    const faults = check(volume, at, context);
    if (faults === undefined) continue;
    if (found) errors.push(forbidden(at.child(label), "may not specify more than 1 volume type"));
    else errors.push(...faults, ...nameFaults(volume, label, at, context));
    found = true;
  }
  if (!found) errors.push(required(at, "must specify a volume type"));
  return errors;
}

function validateIscsi(iscsi: NonNullable<Volume["iscsi"]>, at: FieldPath): readonly FieldError[] {
  return legacy.validateIscsi(iscsi, at, "must be valid format starting with iqn, eui, or naa");
}

function validateEmptyDir({ sizeLimit }: NonNullable<Volume["emptyDir"]>, at: FieldPath): readonly FieldError[] {
  if (sizeLimit === undefined || compareQuantities(parseQuantity(sizeLimit), zeroQuantity) >= 0) return [];
  return [forbidden(at.child("sizeLimit"), "SizeLimit field must be a valid resource quantity")];
}

/** Names that are derived from the volume's own. */
function nameFaults(
  volume: Volume,
  label: string,
  at: FieldPath,
  { name, meta }: VolumeContext,
): readonly FieldError[] {
  if (label === "iscsi" && volume.iscsi !== undefined && legacy.isLongInitiator(name, volume.iscsi))
    return [invalid(at.child("name"), name, legacy.longInitiator)];
  if (label === "ephemeral" && meta?.name && name) {
    const claim = `${meta.name}-${name}`;
    return fits((value) => checkDns1123Subdomain(value), claim, at.child("name")).map((error) => ({
      ...error,
      badValue: name,
      detail: `PVC name ${goQuote(claim)}: ${error.detail}`,
    }));
  }
  return [];
}
