/** Validation of services, in the order in which faults are reported. */

import { fits } from "../../definition/field-checks.ts";
import { checkReachableIp, checkStrictCidr, checkStrictIp } from "../../definition/strict-ip.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import { validateLabels } from "../../machinery/names/labels.ts";
import { checkDns1123Subdomain, checkPortNumber, checkQualifiedName } from "../../machinery/names/names.ts";
import type { Service, ServiceSpec, SessionAffinityConfig } from "../../types/core-v1.ts";
import { validateClusterIPs } from "./cluster-ip-validation.ts";
import { isExternallyAccessible, isHeadless, needsHealthCheckNodePort, needsNodePort } from "./needs.ts";
import { validatePortSets, validatePorts } from "./port-validation.ts";

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const sourceRanges = "service.beta.kubernetes.io/load-balancer-source-ranges";
const onlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";
const notExternalName = "may not be set for ExternalName services";

/** `old`: its values may stay where rules have become stricter. */
export function validateService(service: Service, path: FieldPath, old?: Service): readonly FieldError[] {
  const spec = service.spec ?? {};
  const where = path.child("spec");
  const errors: FieldError[] = [];
  if ((spec.ports ?? []).length === 0 && !isHeadless(service) && spec.type !== "ExternalName")
    errors.push(required(where.child("ports")));
  errors.push(...validateType(service, where));
  errors.push(...validatePorts(spec.ports ?? [], where.child("ports")));
  errors.push(...validateLabels(spec.selector, where.child("selector")));
  errors.push(...validateAffinity(spec, where));
  errors.push(...validateClusterIPs(service, old, path));
  for (const [i, ip] of (spec.externalIPs ?? []).entries()) {
    const malformed = checkStrictIp(where.child("externalIPs").index(i), ip, old?.spec?.externalIPs ?? []);
    errors.push(...(malformed.length > 0 ? malformed : checkReachableIp(where.child("externalIPs").index(i), ip)));
  }
  if (!spec.type) errors.push(required(where.child("type")));
  else if (!types.includes(spec.type)) errors.push(notSupported(where.child("type"), spec.type, types));
  errors.push(...validatePortSets(spec, where.child("ports")));
  errors.push(...validateSourceRanges(service, old, path));
  errors.push(...validateLoadBalancerFields(spec, where));
  errors.push(...validateTrafficPolicies(service, where));
  return errors;
}

function validateType({ spec = {}, ...service }: Service, where: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const headless = isHeadless({ spec, ...service });
  if (spec.type === "LoadBalancer") {
    for (const [i, { port }] of (spec.ports ?? []).entries()) {
      if (port === 10250) {
        errors.push(
          invalid(
            where.child("ports").index(i),
            port,
            "may not expose port 10250 externally since it is used by kubelet",
          ),
        );
      }
    }
  }
  if ((spec.type === "LoadBalancer" || spec.type === "NodePort") && headless) {
    errors.push(
      invalid(where.child("clusterIPs").index(0), "None", `may not be set to 'None' for ${spec.type} services`),
    );
  }
  if (spec.type !== "ExternalName") return errors;
  if ((spec.clusterIPs ?? []).length > 0) errors.push(forbidden(where.child("clusterIPs"), notExternalName));
  if ((spec.ipFamilies ?? []).length > 0) errors.push(forbidden(where.child("ipFamilies"), notExternalName));
  if (spec.ipFamilyPolicy !== undefined) errors.push(forbidden(where.child("ipFamilyPolicy"), notExternalName));
  // A trailing dot marks a fully qualified name.
  const name = (spec.externalName ?? "").replace(/\.$/, "");
  if (name === "") errors.push(required(where.child("externalName")));
  else for (const why of checkDns1123Subdomain(name)) errors.push(invalid(where.child("externalName"), name, why));
  return errors;
}

function validateAffinity(
  { sessionAffinity, sessionAffinityConfig: config }: ServiceSpec,
  where: FieldPath,
): readonly FieldError[] {
  const kinds = ["ClientIP", "None"];
  const errors: FieldError[] = [];
  if (!sessionAffinity) errors.push(required(where.child("sessionAffinity")));
  else if (!kinds.includes(sessionAffinity))
    errors.push(notSupported(where.child("sessionAffinity"), sessionAffinity, kinds));
  const at = where.child("sessionAffinityConfig");
  if (sessionAffinity === "ClientIP") errors.push(...validateTimeout(config, at));
  else if (sessionAffinity === "None" && config !== undefined) {
    errors.push(forbidden(at, "must not be set when session affinity is None"));
  }
  return errors;
}

function validateTimeout(config: SessionAffinityConfig | undefined, at: FieldPath): readonly FieldError[] {
  const why = "when session affinity type is ClientIP";
  if (config === undefined) return [required(at, why)];
  if (config.clientIP === undefined) return [required(at.child("clientIP"), why)];
  const where = at.child("clientIP", "timeoutSeconds");
  const seconds = config.clientIP.timeoutSeconds;
  if (seconds === undefined) return [required(where, why)];
  return seconds <= 0 || seconds > 86400 ? [invalid(where, seconds, "must be greater than 0 and less than 86400")] : [];
}

/** The field, or the annotation that preceded it. */
function validateSourceRanges(
  { metadata, spec = {} }: Service,
  old: Service | undefined,
  path: FieldPath,
): readonly FieldError[] {
  const ranges = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length > 0) {
    const where = path.child("spec", "LoadBalancerSourceRanges");
    const errors = spec.type === "LoadBalancer" ? [] : [forbidden(where, onlyLoadBalancer)];
    const existing = (old?.spec?.loadBalancerSourceRanges ?? []).map((range) => range.trim());
    return [...errors, ...ranges.flatMap((range, i) => checkStrictCidr(where.index(i), range.trim(), existing))];
  }
  const annotation = metadata.annotations?.[sourceRanges];
  if (annotation === undefined) return [];
  const where = path.child("metadata", "annotations").key(sourceRanges);
  if (spec.type !== "LoadBalancer") return [forbidden(where, onlyLoadBalancer)];
  if (annotation.trim() === "" || old?.metadata.annotations?.[sourceRanges] === annotation) return [];
  return annotation.split(",").flatMap((range) => checkStrictCidr(where, range.trim()));
}

function validateLoadBalancerFields(spec: ServiceSpec, where: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const balanced = spec.type === "LoadBalancer";
  const allocate = where.child("allocateLoadBalancerNodePorts");
  if (spec.allocateLoadBalancerNodePorts !== undefined && !balanced) errors.push(forbidden(allocate, onlyLoadBalancer));
  if (spec.allocateLoadBalancerNodePorts === undefined && balanced) errors.push(required(allocate));
  return [...errors, ...validateLoadBalancerClass(spec, where)];
}

export function validateLoadBalancerClass(spec: ServiceSpec, where: FieldPath): readonly FieldError[] {
  const { loadBalancerClass: name, type } = spec;
  if (name === undefined) return [];
  const at = where.child("loadBalancerClass");
  return type === "LoadBalancer" ? fits(checkQualifiedName, name, at) : [forbidden(at, onlyLoadBalancer)];
}

function validateTrafficPolicies(service: Service, where: FieldPath): readonly FieldError[] {
  const {
    externalTrafficPolicy: external,
    internalTrafficPolicy: internal,
    healthCheckNodePort: port = 0,
    ...spec
  } = service.spec ?? {};
  const policies = ["Cluster", "Local"];
  const errors: FieldError[] = [];
  const outside = where.child("externalTrafficPolicy");
  if (!isExternallyAccessible(service)) {
    if (external) errors.push(invalid(outside, external, "may only be set for externally-accessible services"));
  } else if (!external) errors.push(required(outside));
  else if (!policies.includes(external)) errors.push(notSupported(outside, external, policies));
  const health = where.child("healthCheckNodePort");
  if (needsHealthCheckNodePort(service)) {
    if (port === 0) errors.push(required(health));
    else for (const why of checkPortNumber(port)) errors.push(invalid(health, port, why));
  } else if (port !== 0) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(invalid(health, port, why));
  }
  const inside = where.child("internalTrafficPolicy");
  if (internal === undefined && (spec.type === "ClusterIP" || needsNodePort(service))) errors.push(required(inside));
  if (internal !== undefined && !policies.includes(internal)) errors.push(notSupported(inside, internal, policies));
  const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
  const distribution = spec.trafficDistribution;
  if (distribution !== undefined && !distributions.includes(distribution)) {
    errors.push(notSupported(where.child("trafficDistribution"), distribution, distributions));
  }
  return errors;
}
