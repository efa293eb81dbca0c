/** Sysctls of a pod. Sysctls of a namespace that the pod shares with the host are forbidden. */
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  required,
} from "../../../machinery/errors/field-error.ts";
import type { PodSpec } from "../../../types/core-v1.ts";
import type { PodValidationOptions } from "../fields/validation-options.ts";

const longestName = 253;
const segment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const pattern = `^(${segment}[\\./])*${segment}$`;
const whole = new RegExp(pattern);

export function validateSysctls(spec: PodSpec, at: FieldPath, options: PodValidationOptions): readonly FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [i, { name = "" }] of (spec.securityContext?.sysctls ?? []).entries()) {
    const path = at.index(i).child("name");
    if (name === "") errors.push(required(path));
    else if (name.length > longestName || !whole.test(name)) {
      errors.push(invalid(path, name, `must have at most ${longestName} characters and match regex ${pattern}`));
    } else if (names.has(name)) errors.push(duplicate(path, name));
    const host = options.allowHostSysctls ? undefined : hostSysctlFault(name, spec);
    if (host !== undefined) errors.push(invalid(path, name, host));
    names.add(name);
  }
  return errors;
}

export function hostSysctlFault(name: string, spec: PodSpec): string | undefined {
  const dotted = dots(name);
  if (spec.hostNetwork === true && dotted.startsWith("net.")) return "may not be specified when 'hostNetwork' is true";
  const isIpc =
    dotted === "kernel.sem" || ["kernel.shm", "kernel.msg", "fs.mqueue."].some((prefix) => dotted.startsWith(prefix));
  return spec.hostIPC === true && isIpc ? "may not be specified when 'hostIPC' is true" : undefined;
}

/** A slash is a separator, too. The separator that comes first decides; the other one is part of a name. */
function dots(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  if (first !== "/") return name;
  return name.replace(/[./]/g, (char) => (char === "/" ? "." : "/"));
}
