/** `pods/status`: the reports of kubelets and schedulers. */

import { fits } from "../../../definition/field-checks.ts";
import { checkStrictIp } from "../../../definition/strict-ip.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  immutable,
  internal,
  invalid,
  required,
} from "../../../machinery/errors/field-error.ts";
import type { StatusRules } from "../../../machinery/kind.ts";
import { parseIp } from "../../../machinery/names/ip.ts";
import { checkDns1123Label, checkDns1123Subdomain, checkQualifiedName } from "../../../machinery/names/names.ts";
import type { Draft } from "../../../machinery/schema/object.ts";
import type { Container, ContainerStatus, Pod, PodSpec, PodStatus } from "../../../types/core-v1.ts";
import { validateContainerStatuses } from "../containers/statuses.ts";
import { defaultPodStatus } from "../spec/defaults.ts";
import { podOptions } from "../spec/options.ts";
import { specOf, validateAnnotationUpdate } from "./update.ts";

/** System conditions, whose types need no domain. */
const systemConditions = new Set(["PodScheduled", "Ready", "Initialized"]);

export const statusRules: StatusRules<Pod> = {
  fill: defaultPodStatus,
  prepare: prepareStatus,
  validate: validateStatus,
};

function prepareStatus(draft: Draft<Pod>, old: Pod): void {
  const owners = old.metadata.ownerReferences;
  if (owners === undefined) delete draft.metadata.ownerReferences;
  else draft.metadata.ownerReferences = structuredClone(owners) as Draft<NonNullable<typeof owners>>;
  draft.status ??= {};
  if (!draft.status.qosClass && old.status?.qosClass !== undefined) draft.status.qosClass = old.status.qosClass;
  keepObservedGenerations(draft.status, old.status ?? {});
}

/** Clients that do not know the field do not remove it. */
function keepObservedGenerations(status: Draft<PodStatus>, old: PodStatus): void {
  if (!status.observedGeneration && old.observedGeneration) status.observedGeneration = old.observedGeneration;
  const before = (old.conditions ?? []).map(({ type, observedGeneration = 0 }) => ({ type, observedGeneration }));
  for (const condition of status.conditions ?? []) {
    const place = before.findIndex(({ type }) => type === condition.type);
    const [found] = place < 0 ? [] : before.splice(place, 1);
    if (!condition.observedGeneration && found?.observedGeneration)
      condition.observedGeneration = found.observedGeneration;
  }
}

export function validateStatus(pod: Pod, old: Pod, at: FieldPath): readonly FieldError[] {
  const path = at.child("status");
  const status = pod.status ?? {};
  const before = old.status ?? {};
  return [
    ...validateAnnotationUpdate(pod, old, at, podOptions(old.spec, old.metadata)),
    ...validateConditions(status, path.child("conditions")),
    ...validateNomination(status, old, path.child("nominatedNodeName")),
    ...((status.observedGeneration ?? 0) < 0
      ? [invalid(path.child("observedGeneration"), status.observedGeneration ?? 0, "must be a non-negative integer")]
      : []),
    ...((status.qosClass ?? "") === (before.qosClass ?? "")
      ? []
      : [immutable(path.child("qosClass"), status.qosClass ?? "")]),
    ...validateTransitions(status, before, specOf(old), path),
    ...validateClaimStatuses(status, specOf(pod), path.child("resourceClaimStatuses")),
    ...validateExtendedClaim(status, specOf(pod), path.child("extendedResourceClaimStatus")),
    ...validatePodIps(status, before, path.child("podIPs")),
    ...validateHostIps(status, before, path.child("hostIPs")),
    ...validateContainerStatuses(status, specOf(pod), path),
  ];
}

function validateConditions({ conditions = [] }: PodStatus, at: FieldPath): readonly FieldError[] {
  return conditions.flatMap(({ type, observedGeneration = 0 }, i) => [
    ...(observedGeneration < 0
      ? [invalid(at.index(i).child("observedGeneration"), observedGeneration, "must be a non-negative integer")]
      : []),
    ...(systemConditions.has(type) ? [] : fits(checkQualifiedName, type, at.index(i).child("Type"))),
  ]);
}

function validateNomination({ nominatedNodeName = "" }: PodStatus, old: Pod, at: FieldPath): readonly FieldError[] {
  if (nominatedNodeName === "" || nominatedNodeName === (old.status?.nominatedNodeName ?? "")) return [];
  const errors = [...fits(checkDns1123Subdomain, nominatedNodeName, at)];
  if (old.spec?.nodeName) errors.push(forbidden(at, "may not be set on pods that are already bound to a node"));
  return errors;
}

/** A terminated container stays terminated, unless it is to be restarted. */
function validateTransitions(next: PodStatus, old: PodStatus, spec: PodSpec, at: FieldPath): readonly FieldError[] {
  const restartsAll = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === "RestartAllContainers"),
  );
  const revived = (
    list: "containerStatuses" | "initContainerStatuses" | "ephemeralContainerStatuses",
    may: (status: ContainerStatus) => boolean,
  ) =>
    (old[list] ?? []).flatMap((status, i) => {
      const after = (next[list] ?? []).find(({ name }) => name === status.name);
      if (
        status.state?.terminated === undefined ||
        after === undefined ||
        after.state?.terminated !== undefined ||
        may(status)
      )
        return [];
      return [forbidden(at.child(list).index(i).child("state"), "may not be transitioned to non-terminated state")];
    });
  const mayRestart = (containers: readonly Container[]) => (status: ContainerStatus) => {
    const container = containers.find(({ name }) => name === status.name);
    return (
      restartsAll ||
      (container !== undefined && shouldRestart(container, spec, status.state?.terminated?.exitCode ?? 0))
    );
  };
  return [
    ...revived("containerStatuses", mayRestart(spec.containers ?? [])),
    ...revived("initContainerStatuses", mayRestart(spec.initContainers ?? [])),
    ...revived("ephemeralContainerStatuses", () => false),
  ];
}

/** The container's restart rules first, then its restart policy, then the pod's. */
function shouldRestart(
  { restartPolicy, restartPolicyRules = [] }: Container,
  spec: PodSpec,
  exitCode: number,
): boolean {
  if (restartPolicy !== undefined) {
    for (const { action, exitCodes } of restartPolicyRules) {
      if (exitCodes === undefined) continue;
      const listed = (exitCodes.values ?? []).includes(exitCode);
      if (listed === (exitCodes.operator === "In")) return action === "Restart" || action === "RestartAllContainers";
    }
  }
  const policy = restartPolicy ?? spec.restartPolicy;
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

function validateClaimStatuses(
  { resourceClaimStatuses = [] }: PodStatus,
  spec: PodSpec,
  at: FieldPath,
): readonly FieldError[] {
  const seen = new Set<string>();
  return resourceClaimStatuses.flatMap(({ name, resourceClaimName }, i) => {
    const path = at.index(i);
    const errors: FieldError[] = [];
    if (!(spec.resourceClaims ?? []).some((claim) => claim.name === name)) {
      errors.push(invalid(path.child("name"), name, "must match the name of an entry in `spec.resourceClaims`"));
    }
    if (seen.has(name)) errors.push(duplicate(path.child("name"), name));
    seen.add(name);
    if (resourceClaimName !== undefined)
      errors.push(...fits(checkDns1123Subdomain, resourceClaimName, path.child("resourceClaimName")));
    return errors;
  });
}

function validateExtendedClaim(
  { extendedResourceClaimStatus: status }: PodStatus,
  spec: PodSpec,
  at: FieldPath,
): readonly FieldError[] {
  if (status === undefined) return [];
  const containers = new Map(
    [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map((one) => [one.name, one]),
  );
  const mappings = status.requestMappings ?? [];
  const path = at.child("requestMappings");
  const errors: FieldError[] =
    mappings.length === 0 ? [required(path, "at least one request mapping is required")] : [];
  const seen = new Set<string>();
  for (const [i, mapping] of mappings.entries()) {
    const { containerName, resourceName, requestName } = mapping;
    const container = containers.get(containerName);
    if (container === undefined) {
      const why = "must match the name of an entry in spec.initContainers.name or spec.containers.name";
      errors.push(invalid(path.index(i).child("containerName"), containerName, why));
    } else if (container.resources?.requests?.[resourceName] === undefined) {
      const lists = "spec.initContainers.resources.requests or spec.containers.resources.requests";
      errors.push(
        invalid(
          path.index(i).child("resourceName"),
          resourceName,
          `must match the extended resource name of an entry in ${lists}`,
        ),
      );
    }
    errors.push(...fits(checkDns1123Label, requestName, at.child("requestName")));
    const key = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(key)) {
      for (const field of ["containerName", "resourceName", "requestName"] as const) {
        errors.push(duplicate(path.index(i).child(field), mapping[field]));
      }
    }
    seen.add(key);
  }
  const where = at.child("resourceClaimName");
  if (!status.resourceClaimName) return [...errors, required(where)];
  return [...errors, ...fits(checkDns1123Subdomain, status.resourceClaimName, where)];
}

function validatePodIps({ podIPs = [] }: PodStatus, old: PodStatus, at: FieldPath): readonly FieldError[] {
  const before = (old.podIPs ?? []).map(({ ip }) => ip);
  return validateIps(
    podIPs.map(({ ip }) => ip),
    before,
    at,
  );
}

function validateHostIps(
  { hostIP = "", hostIPs = [] }: PodStatus,
  old: PodStatus,
  at: FieldPath,
): readonly FieldError[] {
  const [first] = hostIPs;
  if (first === undefined) return [];
  const before = (old.hostIPs ?? []).map(({ ip }) => ip);
  const errors = first.ip === hostIP ? [] : [invalid(at.index(0).child("ip"), first.ip, "must be equal to `hostIP`")];
  return [
    ...errors,
    ...validateIps(
      hostIPs.map(({ ip }) => ip),
      before,
      at,
    ),
  ];
}

/** One address of each family at most. */
function validateIps(ips: readonly string[], before: readonly string[], at: FieldPath): readonly FieldError[] {
  const errors = ips.flatMap((ip, i) => checkStrictIp(at.index(i), ip, before));
  if (ips.length < 2) return errors;
  const families = ips.map((ip) => parseIp(ip)?.bytes.length);
  const bad = families.indexOf(undefined);
  if (bad >= 0)
    errors.push(internal(at, `failed to check for dual stack with error:invalid IPs at index ${bad}: ${ips[bad]}`));
  if (bad >= 0 || new Set(families).size !== 2 || ips.length > 2) {
    errors.push(
      invalid(
        at,
        ips.map((ip) => ({ IP: ip })),
        "may specify no more than one IP for each IP family",
      ),
    );
  }
  return errors;
}
