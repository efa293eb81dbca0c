/** Validation of a pod's spec, part by part in the order in which faults are reported. */

import { fits, requireOneOf, within } from "../../../definition/field-checks.ts";
import {
  allErrors,
  type FieldError,
  type FieldPath,
  forbidden,
  NO_ERRORS,
  required,
} from "../../../machinery/errors/field-error.ts";
import { validateLabels } from "../../../machinery/names/labels.ts";
import { checkDns1123Subdomain } from "../../../machinery/names/names.ts";
import type { ObjectMeta } from "../../../machinery/schema/object.ts";
import type { PodSpec } from "../../../types/core-v1.ts";
import { validateContainers, validateInitContainers } from "../containers/containers.ts";
import { validateFileKeyVolumes } from "../containers/env.ts";
import { validateEphemeralContainers } from "../containers/ephemeral.ts";
import { validateHostNetworkPorts } from "../containers/ports.ts";
import type { PodValidationOptions } from "../fields/validation-options.ts";
import { placedContainers } from "../fields/visit.ts";
import { validateResourceClaims } from "../resources/resource-claims.ts";
import { validateOverhead, validatePodResources } from "../resources/resources.ts";
import { validateAffinity } from "../scheduling/affinity.ts";
import {
  validateReadinessGates,
  validateSchedulingGates,
  validateSpread,
  validateTolerations,
} from "../scheduling/scheduling.ts";
import { validatePodSecurityContext } from "../security/security-context.ts";
import { validateHostProcess, validateOs } from "../security/windows.ts";
import { type CheckedVolumes, validateVolumes } from "../volumes/volumes.ts";
import {
  validateDnsConfig,
  validateHostAliases,
  validateHostnameOverride,
  validateHostnames,
} from "./hostnames-and-dns.ts";

const restartPolicies = ["Always", "OnFailure", "Never"];
const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const preemptionPolicies = ["PreemptLowerPriority", "Never"];
const longestDeadlineSeconds = 2 ** 31 - 1;
const noSpec: PodSpec = { containers: [] };
const noVolumes: CheckedVolumes = { byName: new Map(), errors: NO_ERRORS };

/** `meta` is that of the pod, undefined for a template. */
export function validatePodSpec(
  given: PodSpec | undefined,
  meta: ObjectMeta | undefined,
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  const spec = given ?? noSpec;
  const volumes = spec.volumes ? validateVolumes(spec.volumes, meta, at.child("volumes"), options) : noVolumes;
  const context = { spec, volumes: volumes.byName, options };
  // Most pods have few of these parts: paths are created only for those that exist.
  return allErrors(
    spec.terminationGracePeriodSeconds === undefined
      ? [required(at.child("terminationGracePeriodSeconds"))]
      : NO_ERRORS,
    volumes.errors,
    spec.resourceClaims ? validateResourceClaims(spec.resourceClaims, meta, at.child("resourceClaims")) : NO_ERRORS,
    validateContainers(context, at.child("containers")),
    spec.initContainers ? validateInitContainers(context, at.child("initContainers")) : NO_ERRORS,
    spec.ephemeralContainers ? validateEphemeralContainers(context, at.child("ephemeralContainers")) : NO_ERRORS,
    spec.resources ? validatePodResources(spec, at.child("resources"), options) : NO_ERRORS,
    validateHostNetworkPorts(spec, at, options.isPod),
    requireOneOf(spec.restartPolicy, restartPolicies, at.child("restartPolicy")),
    requireOneOf(spec.dnsPolicy, dnsPolicies, at.child("dnsPolicy")),
    spec.nodeSelector ? validateLabels(spec.nodeSelector, at.child("nodeSelector")) : NO_ERRORS,
    spec.securityContext ? validatePodSecurityContext(spec, at.child("securityContext"), options) : NO_ERRORS,
    spec.affinity ? validateAffinity(spec.affinity, at.child("affinity"), options) : NO_ERRORS,
    validateDnsConfig(spec.dnsConfig, spec.dnsPolicy, at.child("dnsConfig")),
    spec.readinessGates ? validateReadinessGates(spec.readinessGates, at.child("readinessGates")) : NO_ERRORS,
    spec.schedulingGates ? validateSchedulingGates(spec.schedulingGates, at.child("schedulingGates")) : NO_ERRORS,
    spec.topologySpreadConstraints
      ? validateSpread(spec.topologySpreadConstraints, at.child("topologySpreadConstraints"), options)
      : NO_ERRORS,
    validateHostProcess(spec, at),
    validateUserNamespaces(spec, at, options),
    validateHostnameOverride(spec, at),
    spec.serviceAccountName
      ? fits(checkDns1123Subdomain, spec.serviceAccountName, at.child("serviceAccountName"))
      : NO_ERRORS,
    spec.nodeName ? fits(checkDns1123Subdomain, spec.nodeName, at.child("nodeName")) : NO_ERRORS,
    spec.activeDeadlineSeconds === undefined
      ? NO_ERRORS
      : within(spec.activeDeadlineSeconds, 1, longestDeadlineSeconds, at.child("activeDeadlineSeconds")),
    validateHostnames(spec, at),
    spec.tolerations ? validateTolerations(spec.tolerations, at.child("tolerations")) : NO_ERRORS,
    spec.hostAliases ? validateHostAliases(spec.hostAliases, at.child("hostAliases")) : NO_ERRORS,
    spec.priorityClassName
      ? fits(checkDns1123Subdomain, spec.priorityClassName, at.child("priorityClassName"))
      : NO_ERRORS,
    spec.runtimeClassName === undefined
      ? NO_ERRORS
      : fits(checkDns1123Subdomain, spec.runtimeClassName, at.child("runtimeClassName")),
    spec.preemptionPolicy === undefined
      ? NO_ERRORS
      : requireOneOf(spec.preemptionPolicy, preemptionPolicies, at.child("preemptionPolicy")),
    spec.overhead ? validateOverhead(spec.overhead, at.child("overhead"), options) : NO_ERRORS,
    validateOs(spec, at),
    validateFileKeyVolumes(spec, at),
  );
}

/** `hostUsers: false` cannot be combined with namespaces of the host. */
function validateUserNamespaces(spec: PodSpec, at: FieldPath, options: PodValidationOptions): readonly FieldError[] {
  if (spec.hostUsers !== false) return NO_ERRORS;
  const why = "when `hostUsers` is false";
  const errors: FieldError[] = [];
  if (spec.hostNetwork === true) errors.push(forbidden(at.child("hostNetwork"), why));
  if (spec.hostPID === true) errors.push(forbidden(at.child("HostPID"), why));
  if (spec.hostIPC === true) errors.push(forbidden(at.child("HostIPC"), why));
  if (options.allowUserNamespacesWithDevices) return errors;
  const withDevices = placedContainers(spec, at).filter(({ container }) => (container.volumeDevices ?? []).length > 0);
  return [...errors, ...withDevices.map(({ path }) => forbidden(path.child("volumeDevices"), why))];
}
