/** Security contexts of containers and pods. */

import { fits, oneOf, within } from "../../../definition/field-checks.ts";
import { internalForm } from "../../../facts/index.ts";
import {
  allErrors,
  type FieldError,
  type FieldPath,
  invalid,
  NO_ERRORS,
  required,
  tooLong,
} from "../../../machinery/errors/field-error.ts";
import type { Int64 } from "../../../machinery/json/json.ts";
import { checkDns1123Subdomain } from "../../../machinery/names/names.ts";
import type {
  AppArmorProfile,
  PodSpec,
  SeccompProfile,
  SecurityContext,
  WindowsSecurityContextOptions,
} from "../../../types/core-v1.ts";
import { validateDescendingPath } from "../fields/paths.ts";
import type { PodValidationOptions } from "../fields/validation-options.ts";
import { validateSysctls } from "./sysctls.ts";
import { validateWindowsUser } from "./windows.ts";

const largestId = 2 ** 31 - 1;
const profileTypes = ["Localhost", "RuntimeDefault", "Unconfined"];
const longestProfileName = 4095;

export function validateSecurityContext(
  context: SecurityContext | undefined,
  hostUsers: boolean,
  at: FieldPath,
): readonly FieldError[] {
  if (context === undefined) return [];
  const { procMount } = context;
  return [
    ...validateId(context.runAsUser, at.child("runAsUser")),
    ...validateId(context.runAsGroup, at.child("runAsGroup")),
    ...oneOf(procMount, ["Default", "Unmasked"], at.child("procMount")),
    ...(hostUsers && procMount === "Unmasked"
      ? [invalid(at.child("procMount"), procMount, "`hostUsers` must be false to use `Unmasked`")]
      : []),
    ...validateSeccomp(context.seccompProfile, at.child("seccompProfile")),
    ...validateEscalation(context, at),
    ...validateWindowsOptions(context.windowsOptions, at.child("windowsOptions")),
    ...validateAppArmor(context.appArmorProfile, at.child("appArmorProfile")),
  ];
}

export function validatePodSecurityContext(
  spec: PodSpec,
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  const context = spec.securityContext;
  const sharesTwice = spec.shareProcessNamespace === true && spec.hostPID === true;
  // Every pod has a security context, and most are empty.
  if (context === undefined || (!sharesTwice && isEmpty(context))) return NO_ERRORS;
  return allErrors(
    validateId(context.fsGroup, at.child("fsGroup")),
    validateId(context.runAsUser, at.child("runAsUser")),
    validateId(context.runAsGroup, at.child("runAsGroup")),
    (context.supplementalGroups ?? []).flatMap((group, i) =>
      validateId(group, at.child("supplementalGroups").index(i)),
    ),
    sharesTwice
      ? [invalid(at.child("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled")]
      : NO_ERRORS,
    validateSysctls(spec, at.child("sysctls"), options),
    oneOf(context.fsGroupChangePolicy, ["Always", "OnRootMismatch"], at.child("fsGroupChangePolicy")),
    validateSeccomp(context.seccompProfile, at.child("seccompProfile")),
    validateWindowsOptions(context.windowsOptions, at.child("windowsOptions")),
    validateAppArmor(context.appArmorProfile, at.child("appArmorProfile")),
    oneOf(context.supplementalGroupsPolicy, ["Merge", "Strict"], at.child("supplementalGroupsPolicy")),
    oneOf(
      context.seLinuxChangePolicy,
      options.allowMountOptionPolicy ? ["MountOption", "Recursive"] : ["Recursive"],
      at.child("seLinuxChangePolicy"),
    ),
  );
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

export function validateId(id: Int64 | undefined, at: FieldPath): readonly FieldError[] {
  return id === undefined ? [] : within(id, 0, largestId, at);
}

function validateEscalation(context: SecurityContext, at: FieldPath): readonly FieldError[] {
  if (context.allowPrivilegeEscalation !== false) return [];
  const errors: FieldError[] = [];
  const refuse = (what: string) => {
    const why = `cannot set \`allowPrivilegeEscalation\` to false and ${what}`;
    errors.push(invalid(at, internalForm("core.v1.SecurityContext", context), why));
  };
  if (context.privileged === true) refuse("`privileged` to true");
  for (const capability of context.capabilities?.add ?? []) {
    if (capability === "CAP_SYS_ADMIN") refuse("`capabilities.Add` CAP_SYS_ADMIN");
  }
  return errors;
}

function validateSeccomp(profile: SeccompProfile | undefined, at: FieldPath): readonly FieldError[] {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  const errors = type
    ? [...oneOf(type, profileTypes, at.child("type"))]
    : [required(at.child("type"), "type is required when seccompProfile is set")];
  const where = at.child("localhostProfile");
  if (type !== "Localhost") {
    if (localhostProfile === undefined) return errors;
    return [
      ...errors,
      invalid(where, internalForm("core.v1.SeccompProfile", profile), "can only be set when seccomp type is Localhost"),
    ];
  }
  if (localhostProfile === undefined) return [...errors, required(where, "must be set when seccomp type is Localhost")];
  return [...errors, ...validateDescendingPath(localhostProfile, where)];
}

export function validateAppArmor(profile: AppArmorProfile | undefined, at: FieldPath): readonly FieldError[] {
  if (profile === undefined) return [];
  const { type, localhostProfile: name } = profile;
  const where = at.child("localhostProfile");
  if (!type) return [required(at.child("type"), "type is required when appArmorProfile is set")];
  if (type !== "Localhost") {
    if (!profileTypes.includes(type)) return oneOf(type, profileTypes, at.child("type"));
    return name === undefined ? [] : [invalid(where, name, "can only be set when AppArmor type is Localhost")];
  }
  if (name === undefined || name === "") return [required(where, "must be set when AppArmor type is Localhost")];
  const errors: FieldError[] = [];
  if (name.trim() !== name) errors.push(invalid(where, name, "must not be padded with whitespace"));
  if (name.length > longestProfileName) errors.push(tooLong(where, longestProfileName));
  return errors;
}

const largestSpecKiB = 64;

function validateWindowsOptions(
  options: WindowsSecurityContextOptions | undefined,
  at: FieldPath,
): readonly FieldError[] {
  if (options === undefined) return [];
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  const errors: FieldError[] = [];
  if (gmsaCredentialSpecName !== undefined) {
    errors.push(...fits(checkDns1123Subdomain, gmsaCredentialSpecName, at.child("gmsaCredentialSpecName")));
  }
  const where = at.child("gmsaCredentialSpec");
  if (gmsaCredentialSpec === "") errors.push(invalid(where, "", "gmsaCredentialSpec cannot be an empty string"));
  else if (gmsaCredentialSpec !== undefined && gmsaCredentialSpec.length > largestSpecKiB * 1024) {
    errors.push(invalid(where, gmsaCredentialSpec, `gmsaCredentialSpec size must be under ${largestSpecKiB} KiB`));
  }
  if (runAsUserName !== undefined) errors.push(...validateWindowsUser(runAsUserName, at.child("runAsUserName")));
  return errors;
}
