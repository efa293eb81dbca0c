/** Windows: the format of user names, host process containers, and fields that an operating system does not support. */

import { oneOf } from "../../../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  NO_ERRORS,
  required,
} from "../../../machinery/errors/field-error.ts";
import type { Container, PodSpec } from "../../../types/core-v1.ts";
import { allContainers, placedContainers } from "../fields/visit.ts";

const longestDomain = 256;
const longestUser = 104;
const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsLabel = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const dnsName = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`);
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const control = /[\x00-\x1f\x7f]/;

export function validateWindowsUser(name: string, at: FieldPath): readonly FieldError[] {
  const fault = (why: string) => invalid(at, name, why);
  if (name === "") return [fault("runAsUserName cannot be an empty string")];
  if (control.test(name)) return [fault("runAsUserName cannot contain control characters")];
  const parts = name.split("\\");
  if (parts.length > 2) return [fault("runAsUserName cannot contain more than one backslash")];
  const [domain, user = ""] = parts.length === 2 ? parts : [undefined, name];
  const errors: FieldError[] = [];
  if (domain !== undefined && domain.length >= longestDomain) {
    errors.push(fault(`runAsUserName's Domain length must be under ${longestDomain} characters`));
  }
  if (domain !== undefined && !netBios.test(domain) && !dnsName.test(domain)) {
    errors.push(fault("runAsUserName's Domain doesn't match the NetBios nor the DNS format"));
  }
  if (user === "") errors.push(fault("runAsUserName's User cannot be empty"));
  else if (user.length > longestUser) {
    errors.push(fault(`runAsUserName's User length must not be longer than ${longestUser} characters`));
  }
  if (/^[. ]+$/.test(user)) errors.push(fault("runAsUserName's User cannot contain only periods or spaces"));
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    errors.push(fault("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"));
  }
  return errors;
}

export function validateHostProcess(spec: PodSpec, at: FieldPath): readonly FieldError[] {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  if (ofPod === undefined && !allContainers(spec).some(saysHostProcess)) return NO_ERRORS;
  const errors: FieldError[] = [];
  const containers = placedContainers(spec, at);
  let count = 0;
  for (const { container, path } of containers) {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (own !== undefined && ofPod !== undefined && own !== ofPod) {
      const why = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      errors.push(invalid(path.child("securityContext", "windowsOptions", "hostProcess"), own, why));
    }
    if (own ?? ofPod) count++;
  }
  if (count === 0) return errors;
  if (count !== containers.length) {
    errors.push(
      invalid(at, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers"),
    );
  }
  if (spec.hostNetwork !== true) {
    errors.push(
      invalid(at.child("hostNetwork"), false, "hostNetwork must be true if pod contains any hostProcess containers"),
    );
  }
  return errors;
}

function saysHostProcess({ securityContext }: Pick<Container, "securityContext">): boolean {
  return securityContext?.windowsOptions?.hostProcess !== undefined;
}

/** Fields that the pod's operating system does not support must not be set. */
export function validateOs(spec: PodSpec, at: FieldPath): readonly FieldError[] {
  if (spec.os === undefined) return [];
  const { name } = spec.os;
  if (!name) return [required(at.child("os", "name"))];
  if (name === "linux") return validateLinux(spec, at);
  return name === "windows" ? validateWindows(spec, at) : oneOf(name, ["linux", "windows"], at.child("os"));
}

function validateLinux(spec: PodSpec, at: FieldPath): readonly FieldError[] {
  const owners = [{ context: spec.securityContext, path: at }, ...placedContexts(spec, at)];
  return owners
    .filter(({ context }) => context?.windowsOptions !== undefined)
    .map(({ path }) =>
      forbidden(path.child("securityContext", "windowsOptions"), "windows options cannot be set for a linux pod"),
    );
}

/** In the order in which they are reported; `spec:` marks fields of the spec itself. */
const linuxPodFields = [
  "appArmorProfile",
  "seLinuxOptions",
  "spec:hostUsers",
  "spec:hostPID",
  "spec:hostIPC",
  "seccompProfile",
  "fsGroup",
  "fsGroupChangePolicy",
  "sysctls",
  "spec:shareProcessNamespace",
  "runAsUser",
  "runAsGroup",
  "supplementalGroups",
  "supplementalGroupsPolicy",
  "seLinuxChangePolicy",
] as const;
const linuxContainerFields = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
] as const;
const notOnWindows = "cannot be set for a windows pod";

function validateWindows(spec: PodSpec, at: FieldPath): readonly FieldError[] {
  const ofSpec: Readonly<Record<string, unknown>> = { ...spec };
  const ofContext: Readonly<Record<string, unknown>> = { ...spec.securityContext };
  const errors = linuxPodFields.flatMap((field) => {
    const name = field.replace("spec:", "");
    if (name !== field) return isSet(ofSpec[name], name) ? [forbidden(at.child(name), notOnWindows)] : [];
    return ofContext[name] === undefined ? [] : [forbidden(at.child("securityContext", name), notOnWindows)];
  });
  for (const { context, path } of placedContexts(spec, at)) {
    for (const field of linuxContainerFields) {
      if (context?.[field] !== undefined) errors.push(forbidden(path.child("securityContext", field), notOnWindows));
    }
  }
  return errors;
}

/** hostPID and hostIPC are not pointers: false is the same as absent. */
function isSet(value: unknown, name: string): boolean {
  return name === "hostPID" || name === "hostIPC" ? value === true : value !== undefined;
}

function placedContexts(spec: PodSpec, at: FieldPath) {
  return placedContainers(spec, at).map(({ container, path }) => ({ context: container.securityContext, path }));
}
