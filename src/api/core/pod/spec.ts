/** The spec of a pod as a whole, part by part in the order in which faults are told. */
import { type FieldError, type FieldPath, forbidden, required } from "../../machinery/field-error.ts";
import { validateLabels } from "../../machinery/labels.ts";
import { checkDns1123Subdomain } from "../../machinery/names.ts";
import type { ObjectMeta } from "../../machinery/object.ts";
import type { PodSpec } from "../../types/core-v1.ts";
import { validateAffinity } from "./affinity.ts";
import { validateContainers, validateInitContainers } from "./containers.ts";
import { validateFileKeyVolumes } from "./env.ts";
import { validateEphemeralContainers } from "./ephemeral-containers.ts";
import { fits, requireOneOf, within } from "./field-checks.ts";
import {
  validateDnsConfig,
  validateHostAliases,
  validateHostnameOverride,
  validateHostnames,
} from "./names-and-hosts.ts";
import type { PodValidationOptions } from "./options.ts";
import { validateHostNetworkPorts } from "./ports.ts";
import { validateResourceClaims } from "./resource-claims.ts";
import { validateOverhead, validatePodResources } from "./resources.ts";
import { validateReadinessGates, validateSchedulingGates, validateSpread, validateTolerations } from "./scheduling.ts";
import { validatePodSecurityContext } from "./security.ts";
import { placedContainers } from "./visit.ts";
import { validateVolumes } from "./volumes.ts";
import { validateHostProcess, validateOs } from "./windows.ts";

const restartPolicies = ["Always", "OnFailure", "Never"];
const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const longestDeadlineSeconds = 2 ** 31 - 1;
const noSpec: PodSpec = { containers: [] };

/** `meta` is that of the pod, undefined for a template. */
export function validatePodSpec(
  given: PodSpec | undefined,
  meta: ObjectMeta | undefined,
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  const spec = given ?? noSpec;
  const volumes = validateVolumes(spec.volumes ?? [], meta, at.child("volumes"), options);
  const context = { spec, volumes: volumes.byName, options };
  return [
    ...(spec.terminationGracePeriodSeconds === undefined ? [required(at.child("terminationGracePeriodSeconds"))] : []),
    ...volumes.errors,
    ...validateResourceClaims(spec.resourceClaims ?? [], meta, at.child("resourceClaims")),
    ...validateContainers(context, at.child("containers")),
    ...validateInitContainers(context, at.child("initContainers")),
    ...validateEphemeralContainers(context, at.child("ephemeralContainers")),
    ...validatePodResources(spec, at.child("resources"), options),
    ...validateHostNetworkPorts(spec, at, options.isPod),
    ...requireOneOf(spec.restartPolicy, restartPolicies, at.child("restartPolicy")),
    ...requireOneOf(spec.dnsPolicy, dnsPolicies, at.child("dnsPolicy")),
    ...validateLabels(spec.nodeSelector, at.child("nodeSelector")),
    ...validatePodSecurityContext(spec, at.child("securityContext"), options),
    ...validateAffinity(spec.affinity, at.child("affinity"), options),
    ...validateDnsConfig(spec.dnsConfig, spec.dnsPolicy, at.child("dnsConfig")),
    ...validateReadinessGates(spec.readinessGates ?? [], at.child("readinessGates")),
    ...validateSchedulingGates(spec.schedulingGates ?? [], at.child("schedulingGates")),
    ...validateSpread(spec.topologySpreadConstraints ?? [], at.child("topologySpreadConstraints"), options),
    ...validateHostProcess(spec, at),
    ...validateUserNamespaces(spec, at, options),
    ...validateHostnameOverride(spec, at),
    ...optionalName(spec.serviceAccountName, at.child("serviceAccountName")),
    ...optionalName(spec.nodeName, at.child("nodeName")),
    ...(spec.activeDeadlineSeconds === undefined
      ? []
      : within(spec.activeDeadlineSeconds, 1, longestDeadlineSeconds, at.child("activeDeadlineSeconds"))),
    ...validateHostnames(spec, at),
    ...validateTolerations(spec.tolerations ?? [], at.child("tolerations")),
    ...validateHostAliases(spec.hostAliases ?? [], at.child("hostAliases")),
    ...optionalName(spec.priorityClassName, at.child("priorityClassName")),
    ...(spec.runtimeClassName === undefined
      ? []
      : fits(checkDns1123Subdomain, spec.runtimeClassName, at.child("runtimeClassName"))),
    ...(spec.preemptionPolicy === undefined
      ? []
      : requireOneOf(spec.preemptionPolicy, ["PreemptLowerPriority", "Never"], at.child("preemptionPolicy"))),
    ...validateOverhead(spec.overhead ?? {}, at.child("overhead"), options),
    ...validateOs(spec, at),
    ...validateFileKeyVolumes(spec, at),
  ];
}

/** Users of their own, and namespaces shared with the host: one or the other. */
function validateUserNamespaces(spec: PodSpec, at: FieldPath, options: PodValidationOptions): readonly FieldError[] {
  if (spec.hostUsers !== false) return [];
  const why = "when `hostUsers` is false";
  const errors: FieldError[] = [];
  if (spec.hostNetwork === true) errors.push(forbidden(at.child("hostNetwork"), why));
  if (spec.hostPID === true) errors.push(forbidden(at.child("HostPID"), why));
  if (spec.hostIPC === true) errors.push(forbidden(at.child("HostIPC"), why));
  if (options.allowUserNamespacesWithDevices) return errors;
  const withDevices = placedContainers(spec, at).filter(({ container }) => (container.volumeDevices ?? []).length > 0);
  return [...errors, ...withDevices.map(({ path }) => forbidden(path.child("volumeDevices"), why))];
}

function optionalName(name: string | undefined, at: FieldPath): readonly FieldError[] {
  return name === undefined || name === "" ? [] : fits(checkDns1123Subdomain, name, at);
}
