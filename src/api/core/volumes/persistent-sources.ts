/**
 * The sources of a PersistentVolume: in the order of precedence, the first that is set counts.
 *
 * 1. Further sources are reported but not validated, except for a FlexVolume, which is validated and not reported.
 * 2. Secrets of volumes name their namespace. A local volume must know its node.
 */
import { fits, requireFits, requireText } from "../../definition/field-checks.ts";
import { type FieldError, type FieldPath, forbidden, invalid, required } from "../../machinery/errors/field-error.ts";
import { checkDns1123Label, checkDns1123Subdomain } from "../../machinery/names/names.ts";
import type {
  AzureFilePersistentVolumeSource,
  CinderPersistentVolumeSource,
  CSIPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  LocalVolumeSource,
  PersistentVolumeSource,
  StorageOSPersistentVolumeSource,
} from "../../types/core-v1.ts";
import { csiDriverNameFaults, validateHostPath, validateNfs, validateNoBacksteps } from "./current-sources.ts";
import * as legacy from "./legacy-sources.ts";

type Errors = readonly FieldError[];
type SourceName = keyof PersistentVolumeSource;

export interface VolumeFacts {
  /** The name of the volume; empty in an inline volume. */
  readonly name: string;
  readonly hasNodeAffinity: boolean;
}

interface SourceRule {
  readonly name: SourceName;
  /** How the refusal names a surplus source. */
  readonly label: string;
  check(source: PersistentVolumeSource, at: FieldPath, facts: VolumeFacts): Errors;
}

function rule<K extends SourceName>(
  name: K,
  check: (value: NonNullable<PersistentVolumeSource[K]>, at: FieldPath, facts: VolumeFacts) => Errors,
  { label = name, at = name }: { readonly label?: string; readonly at?: string } = {},
): SourceRule {
  return {
    name,
    label,
    check: (source, path, facts) =>
      check(source[name] as NonNullable<PersistentVolumeSource[K]>, path.child(at), facts),
  };
}

/** Some paths differ from the field's name, as in Kubernetes. */
const rules: readonly SourceRule[] = [
  rule("hostPath", validateHostPath),
  rule("gcePersistentDisk", legacy.validateGcePersistentDisk, { at: "persistentDisk" }),
  rule("awsElasticBlockStore", legacy.validateAwsElasticBlockStore),
  rule("glusterfs", validateGlusterfs),
  rule("flocker", legacy.validateFlocker),
  rule("nfs", validateNfs),
  rule("rbd", legacy.validateRbd),
  rule("quobyte", legacy.validateQuobyte),
  rule("cephfs", legacy.validateCephFs, { label: "cephFS" }),
  rule("iscsi", validateIscsi),
  rule("cinder", validateCinder),
  rule("fc", legacy.validateFibreChannel),
  rule("flexVolume", legacy.validateFlexVolume),
  rule("azureFile", validateAzureFile),
  rule("vsphereVolume", legacy.validateVsphere),
  rule("photonPersistentDisk", legacy.validatePhoton),
  rule("portworxVolume", legacy.validatePortworx),
  rule("azureDisk", legacy.validateAzureDisk),
  rule("scaleIO", legacy.validateScaleIo),
  rule("local", validateLocal),
  rule("storageos", validateStorageOs),
  rule("csi", validateCsi),
];

export function validatePersistentSource(source: PersistentVolumeSource, at: FieldPath, facts: VolumeFacts): Errors {
  const errors: FieldError[] = [];
  let found = false;
  for (const { name, label, check } of rules) {
    if (source[name] === undefined) continue;
    if (found && name !== "flexVolume") {
      errors.push(forbidden(at.child(label), "may not specify more than 1 volume type"));
      continue;
    }
    found = true;
    errors.push(...check(source, at, facts));
    if (name === "local" && !facts.hasNodeAffinity)
      errors.push(required(at.child("nodeAffinity"), "Local volume requires node affinity"));
  }
  return found ? errors : [required(at, "must specify a volume type")];
}

/** The part of a volume's spec that is its source. */
export function persistentSourceOf(spec: PersistentVolumeSource): PersistentVolumeSource {
  return Object.fromEntries(rules.flatMap(({ name }) => (spec[name] === undefined ? [] : [[name, spec[name]]])));
}

function validateGlusterfs(source: GlusterfsPersistentVolumeSource, at: FieldPath): Errors {
  const { endpointsNamespace: namespace } = source;
  const where = at.child("endpointsNamespace");
  const errors = legacy.validateGlusterfs(source, at);
  if (namespace === undefined) return errors;
  if (namespace !== "") return [...errors, ...fits(checkDns1123Label, namespace, where)];
  return [...errors, invalid(where, "", "if the endpointnamespace is set, it must be a valid namespace name")];
}

function validateIscsi(source: ISCSIPersistentVolumeSource, at: FieldPath, { name }: VolumeFacts): Errors {
  return [
    ...(legacy.isLongInitiator(name, source)
      ? [invalid(at.child("targetportal"), source.targetPortal, legacy.longInitiator)]
      : []),
    ...legacy.validateIscsi(source, at, "must be valid format"),
    ...(source.secretRef === undefined ? [] : requireText(source.secretRef.name, at.child("secretRef", "name"))),
  ];
}

function validateCinder(source: CinderPersistentVolumeSource, at: FieldPath): Errors {
  return [...legacy.validateCinder(source, at), ...requireSecretNamespace(source.secretRef, at)];
}

function validateAzureFile(source: AzureFilePersistentVolumeSource, at: FieldPath): Errors {
  const { secretNamespace } = source;
  const errors = legacy.validateAzureFile(source, at);
  return secretNamespace === "" ? [...errors, required(at.child("secretNamespace"))] : errors;
}

function validateLocal({ path }: LocalVolumeSource, at: FieldPath): Errors {
  return path ? validateNoBacksteps(path, at.child("path")) : [required(at.child("path"))];
}

function validateStorageOs(source: StorageOSPersistentVolumeSource, at: FieldPath): Errors {
  return [...legacy.validateStorageOs(source, at), ...requireSecretNamespace(source.secretRef, at)];
}

const secretFields = [
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
  "nodePublishSecretRef",
  "nodeExpandSecretRef",
] as const;

function validateCsi(source: CSIPersistentVolumeSource, at: FieldPath): Errors {
  const errors = [
    ...csiDriverNameFaults(source.driver, at.child("driver")),
    ...requireText(source.volumeHandle, at.child("volumeHandle")),
  ];
  for (const field of secretFields) {
    const secret = source[field];
    if (secret === undefined) continue;
    errors.push(...requireFits(checkDns1123Subdomain, secret.name, at.child(field, "name")));
    errors.push(...requireFits(checkDns1123Label, secret.namespace, at.child(field, "namespace")));
  }
  return errors;
}

function requireSecretNamespace(secret: { readonly namespace?: string } | undefined, at: FieldPath): Errors {
  return secret === undefined ? [] : requireText(secret.namespace, at.child("secretRef", "namespace"));
}
