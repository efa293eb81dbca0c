/**
 * What a server without `--allow-privileged` refuses: privileged containers, and host processes on Windows.
 *
 * 1. Each refusal stands where the validation of Kubernetes has it: among the errors of its container, or after those
 *    of topologySpreadConstraints.
 */
import { type FieldError, type FieldPath, forbidden } from "../../../machinery/errors/field-error.ts";
import type { Container, EphemeralContainer, PodSpec } from "../../../types/core-v1.ts";

type AnyContainer = Container | EphemeralContainer;

/** In the order of validation, which is not that of `fields/visit.ts`. */
const LISTS = ["containers", "initContainers", "ephemeralContainers"] as const;
/** What is validated of a spec before its containers. */
const BEFORE_CONTAINERS = ["terminationGracePeriodSeconds", "volumes", "resourceClaims"];
/** What is validated between the containers and host processes. */
const BEFORE_HOST_PROCESS = [
  "resources",
  "restartPolicy",
  "dnsPolicy",
  "nodeSelector",
  "securityContext",
  "affinity",
  "dnsConfig",
  "readinessGates",
  "schedulingGates",
  "topologySpreadConstraints",
  "hostNetwork",
];
/** What is validated of a container before its security context. */
const BEFORE_SECURITY_CONTEXT = [
  "name",
  "image",
  "terminationMessagePolicy",
  "ports",
  "env",
  "envFrom",
  "volumeMounts",
  "volumeDevices",
  "imagePullPolicy",
  "resources",
  "resizePolicy",
];

/** The errors of a pod's or a template's validation, with the refusals among them. `at`: the path of the spec. */
export function withPrivilegedRefused(
  errors: readonly FieldError[],
  spec: PodSpec | undefined,
  at: FieldPath,
): readonly FieldError[] {
  if (spec === undefined) return errors;
  let found = errors;
  const before = BEFORE_CONTAINERS.map((name) => at.child(name));
  for (const list of LISTS) {
    for (const [i, container] of (spec[list] ?? []).entries()) {
      const path = at.child(list).index(i);
      if (container.securityContext?.privileged === true) {
        const refusal = forbidden(path.child("securityContext", "privileged"), "disallowed by cluster policy");
        found = inserted(found, refusal, [...before, ...BEFORE_SECURITY_CONTEXT.map((name) => path.child(name))], at);
      }
      before.push(path);
    }
  }
  if (!hasHostProcess(spec)) return found;
  const refusal = forbidden(at, "hostProcess containers are disallowed by cluster policy");
  return inserted(found, refusal, [...before, ...BEFORE_HOST_PROCESS.map((name) => at.child(name))], at);
}

/** After the last error in `before`, or else before the first of the spec, or else last. */
function inserted(
  errors: readonly FieldError[],
  refusal: FieldError,
  before: readonly FieldPath[],
  at: FieldPath,
): readonly FieldError[] {
  const isIn = (paths: readonly string[]) => (error: FieldError) => paths.some((path) => isWithin(error.field, path));
  const last = errors.findLastIndex(isIn(before.map(String)));
  const first = errors.findIndex(isIn([String(at)]));
  const place = last >= 0 ? last + 1 : first >= 0 ? first : errors.length;
  return errors.toSpliced(place, 0, refusal);
}

function isWithin(field: string, path: string): boolean {
  return field.startsWith(path) && (field.length === path.length || ".[".includes(field.charAt(path.length)));
}

/** A container says it itself, or takes it from the pod. */
function hasHostProcess(spec: PodSpec): boolean {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  const is = ({ securityContext }: AnyContainer) => (securityContext?.windowsOptions?.hostProcess ?? ofPod) === true;
  return LISTS.some((list) => (spec[list] ?? []).some(is));
}
