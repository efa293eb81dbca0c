/**
 * What validation of a pod allows beyond its strict rules, so that objects stored under older rules can still be
 * updated. An option is set only where the old object already made use of it.
 */
import { at } from "../../../machinery/errors/field-error.ts";
import { validateLabelSelector } from "../../../machinery/names/labels.ts";
import { checkLabelValue } from "../../../machinery/names/names.ts";
import { onceForEach } from "../../../machinery/schema/memo.ts";
import type { ObjectMeta } from "../../../machinery/schema/object.ts";
import type { NodeSelectorTerm, PodAffinityTerm, PodSpec, PodTemplateSpec } from "../../../types/core-v1.ts";
import { isDeletionCost } from "../fields/annotations.ts";
import { isNonLocalPath } from "../fields/paths.ts";
import { newPod, type PodValidationOptions } from "../fields/validation-options.ts";
import { allContainers } from "../fields/visit.ts";
import { isDivisible } from "../resources/names.ts";
import { validateMatchLabelKeys } from "../scheduling/match-label-keys.ts";
import { hostSysctlFault } from "../security/sysctls.ts";

/** For a pod; `old` is what it was before an update. */
export function podOptions(old?: PodSpec, oldMeta?: ObjectMeta): PodValidationOptions {
  if (old === undefined) return newPod;
  const options = optionsOf(old);
  return isDeletionCost(oldMeta?.annotations) ? options : { ...options, allowAnyDeletionCost: true };
}

/** A stored spec does not change, and most updates of a pod leave it as it is. */
const optionsOf = onceForEach(
  (old: PodSpec): PodValidationOptions => ({
    isPod: true,
    allowAnyDeletionCost: false,
    allowIndivisibleHugePages: allContainers(old).some(hasIndivisibleHugePages),
    allowInvalidAffinitySelector: podAffinityTerms(old).some(hasInvalidSelector),
    allowInvalidNodeAffinity: requiredNodeTerms(old).some(hasInvalidValue),
    allowInvalidSpreadSelector: (old.topologySpreadConstraints ?? []).some(
      (c) => validateLabelSelector(c.labelSelector, at()).length > 0,
    ),
    allowNonLocalTokenPath: tokenPaths(old).some(isNonLocalPath),
    allowHostSysctls: (old.securityContext?.sysctls ?? []).some(({ name }) => hostSysctlFault(name, old) !== undefined),
    allowEmptyImageReference: (old.volumes ?? []).some(
      ({ image }) => image !== undefined && (image.reference ?? "") === "",
    ),
    allowUserNamespacesWithDevices:
      old.hostUsers === false && allContainers(old).some((c) => (c.volumeDevices ?? []).length > 0),
    allowMountOptionPolicy: old.securityContext?.seLinuxChangePolicy !== undefined,
    allowRestartOnInitResize: (old.initContainers ?? []).some(restartsOnResize),
    unmergedMatchLabelKeys: (old.topologySpreadConstraints ?? []).some(
      (c) => validateMatchLabelKeys(c, at()).length > 0,
    ),
  }),
);

/** For the template of a workload; `old` is what it was before an update. */
export function podTemplateOptions(
  _template: PodTemplateSpec | undefined,
  old?: PodTemplateSpec,
): PodValidationOptions {
  return { ...podOptions(old?.spec, old?.metadata), isPod: false };
}

type ContainerPart = ReturnType<typeof allContainers>[number];

function hasIndivisibleHugePages({ resources }: ContainerPart): boolean {
  return [resources?.limits, resources?.requests].some((amounts) =>
    Object.entries(amounts ?? {}).some(([name, amount]) => !isDivisible(name, amount)),
  );
}

function restartsOnResize({ restartPolicy, resizePolicy = [] }: ContainerPart): boolean {
  return restartPolicy !== "Always" && resizePolicy.some((policy) => policy.restartPolicy === "RestartContainer");
}

function podAffinityTerms({ affinity }: PodSpec): readonly PodAffinityTerm[] {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((side) => [
    ...(side?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(side?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((weighted) => weighted.podAffinityTerm),
  ]);
}

function hasInvalidSelector(term: PodAffinityTerm): boolean {
  return [term.labelSelector, term.namespaceSelector].some(
    (selector) => validateLabelSelector(selector, at()).length > 0,
  );
}

function requiredNodeTerms({ affinity }: PodSpec): readonly NodeSelectorTerm[] {
  return affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
}

function hasInvalidValue({ matchExpressions = [] }: NodeSelectorTerm): boolean {
  return matchExpressions.some(({ values = [] }) => values.some((value) => checkLabelValue(value).length > 0));
}

function tokenPaths({ volumes = [] }: PodSpec): readonly string[] {
  return volumes.flatMap(({ projected }) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken }) => serviceAccountToken?.path ?? []),
  );
}
