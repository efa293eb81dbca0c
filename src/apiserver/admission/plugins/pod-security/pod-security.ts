/**
 * PodSecurity: the Pod Security Standards, at the levels that the labels of a namespace set.
 *
 * 1. Pods that violate the enforced level are refused. Pod templates only cause warnings and audit annotations.
 * 2. A change of the enforced level warns of existing Pods that violate it.
 * 3. An update of a Pod that cannot affect its security is not checked, so that Pods from before a stricter level can
 *    still be updated.
 */
import {
  type batch,
  compareLevels,
  type core,
  evaluatePodSecurity,
  field,
  goQuote,
  internalError,
  invalidStatus,
  type JsonObject,
  type KubeObject,
  type LevelVersion,
  levelVersionText,
  type PodLike,
  type PodSecurityPolicy,
  podSecurityPolicy,
  sameLevelVersion,
  type Violation,
  violationDetails,
} from "#api";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import { aggregate } from "../../chain/aggregate.ts";
import { type AdmissionPlugin, type ClusterView, refused, rule } from "../../chain/plugin.ts";
import { podSecurityConfiguration } from "./pod-security-configuration.ts";
import { existingPodWarnings } from "./pod-security-existing.ts";

const PREFIX = "pod-security.kubernetes.io/";
/** Subresources that do not change the security of a Pod. */
const HARMLESS = new Set(["exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"]);
const CONTROLLERS =
  "replicationcontrollers podtemplates replicasets.apps deployments.apps statefulsets.apps daemonsets.apps jobs.batch cronjobs.batch";

export function podSecurity(section: JsonObject | undefined): AdmissionPlugin {
  const { defaults, exempt } = podSecurityConfiguration(section);

  const isExempt = (attributes: AdmissionAttributes): boolean => {
    const { namespace, user } = attributes;
    const as = exempt.namespaces.has(namespace) ? "namespace" : exempt.usernames.has(user.name) ? "user" : undefined;
    if (as !== undefined) attributes.annotate(`${PREFIX}exempt`, as);
    return as !== undefined;
  };
  const checkPod = (attributes: AdmissionAttributes, cluster: ClusterView) => {
    if (HARMLESS.has(attributes.subresource) || isExempt(attributes)) return;
    const found = policyOf(attributes, cluster, defaults);
    if (!found.errors && isPrivileged(found.policy.enforce, found.policy.audit, found.policy.warn)) return;
    const pod = attributes.object as core.Pod;
    if (attributes.operation === "UPDATE" && !matters(pod, attributes.old as core.Pod)) return;
    if (pod.spec !== undefined) judge(attributes, found, { metadata: pod.metadata, spec: pod.spec }, true);
  };
  const checkTemplate = (attributes: AdmissionAttributes, cluster: ClusterView) => {
    if (isExempt(attributes)) return;
    const found = policyOf(attributes, cluster, defaults);
    if (!found.errors && isPrivileged(found.policy.audit, found.policy.warn)) return;
    const template = templateOf(attributes.object);
    if (template?.spec === undefined) return;
    judge(attributes, found, { metadata: template.metadata ?? {}, spec: template.spec }, false);
  };
  const judge = (attributes: AdmissionAttributes, { policy, errors }: Found, pod: PodLike, enforced: boolean) => {
    if (exempt.runtimeClasses.has(pod.spec.runtimeClassName ?? "")) {
      attributes.annotate(`${PREFIX}exempt`, "runtimeClass");
      return;
    }
    if (errors) attributes.annotate(`${PREFIX}error`, `Failed to parse policy: ${errors}`);
    const known = new Map<string, readonly Violation[]>();
    const evaluate = (asked: LevelVersion) => {
      const text = levelVersionText(asked);
      const violations = known.get(text) ?? evaluatePodSecurity(asked, pod);
      known.set(text, violations);
      return { violations, words: `violate PodSecurity ${goQuote(text)}: ${violationDetails(violations)}` };
    };
    const audit = evaluate(policy.audit);
    if (audit.violations.length > 0) attributes.annotate(`${PREFIX}audit-violations`, `would ${audit.words}`);
    if (enforced) {
      attributes.annotate(`${PREFIX}enforce-policy`, levelVersionText(policy.enforce));
      const { violations, words } = evaluate(policy.enforce);
      if (violations.length > 0) throw refused(attributes, words.replace("violate", "violates"));
    }
    const warn = evaluate(policy.warn);
    if (warn.violations.length > 0) attributes.warn(`would ${warn.words}`);
  };
  const checkNamespace = (attributes: AdmissionAttributes, cluster: ClusterView) => {
    const { object, old, operation, warn } = attributes;
    const name = object?.metadata.name ?? "";
    const next = podSecurityPolicy(object?.metadata.labels, defaults);
    const before = podSecurityPolicy(old?.metadata.labels, defaults);
    const isNews = operation === "CREATE" || faultsOf(next) !== faultsOf(before);
    if (next.errors.length > 0 && isNews) throw invalidStatus({ group: "", kind: "Namespace" }, name, next.errors);
    const { enforce } = next.policy;
    const isStricter =
      operation === "UPDATE" &&
      enforce.level !== "privileged" &&
      !sameLevelVersion(enforce, before.policy.enforce) &&
      (enforce.version !== before.policy.enforce.version ||
        compareLevels(enforce.level, before.policy.enforce.level) > 0);
    if (exempt.namespaces.has(name)) {
      if (operation === "UPDATE" && !isStricter) return;
      const ignored = ignoredPolicy(next.policy, defaults);
      if (ignored !== undefined)
        warn(`namespace ${goQuote(name)} is exempt from Pod Security, and the policy (${ignored}) will be ignored`);
      return;
    }
    if (!isStricter) return;
    const pods = cluster.listIn<core.Pod>("", "v1", "pods", name);
    for (const warning of existingPodWarnings(name, pods, enforce, exempt.runtimeClasses, cluster.clock)) warn(warning);
  };
  return {
    name: "PodSecurity",
    validates: [
      rule("CREATE UPDATE", "pods pods/*", checkPod),
      rule("CREATE UPDATE", CONTROLLERS, checkTemplate),
      rule("CREATE UPDATE", "namespaces", checkNamespace),
    ],
  };
}

interface Found {
  readonly policy: PodSecurityPolicy;
  /** "" if there are none. */
  readonly errors: string;
}

function policyOf({ namespace }: AdmissionAttributes, cluster: ClusterView, defaults: PodSecurityPolicy): Found {
  const found = cluster.get("", "v1", "namespaces", "", namespace);
  if (found === undefined) throw internalError(`failed to lookup namespace ${goQuote(namespace)}`);
  const read = podSecurityPolicy(found.metadata.labels, defaults);
  return { policy: read.policy, errors: faultsOf(read) };
}

function faultsOf({ errors }: ReturnType<typeof podSecurityPolicy>): string {
  return errors.length === 0 ? "" : aggregate(errors.map(field.fieldErrorText));
}

function isPrivileged(...asked: readonly LevelVersion[]): boolean {
  return asked.every(({ level }) => level === "privileged");
}

/** A warning: levels set on an exempt namespace have no effect. */
function ignoredPolicy(policy: PodSecurityPolicy, defaults: PodSecurityPolicy): string | undefined {
  const modes = ["enforce", "audit", "warn"] as const;
  if (modes.every((mode) => policy[mode].level === "privileged")) return undefined;
  if (modes.every((mode) => sameLevelVersion(policy[mode], defaults[mode]))) return undefined;
  return modes.map((mode) => `${mode}=${levelVersionText(policy[mode])}`).join(", ");
}

function templateOf(object: KubeObject | undefined): core.PodTemplateSpec | undefined {
  const any = object as {
    readonly kind?: string;
    readonly template?: core.PodTemplateSpec;
    readonly spec?: { readonly template?: core.PodTemplateSpec; readonly jobTemplate?: batch.JobTemplateSpec };
  };
  return any?.template ?? any?.spec?.template ?? any?.spec?.jobTemplate?.spec?.template;
}

/** Images, seccomp annotations and further containers are what an update can change of a Pod's security. */
function matters(pod: core.Pod, old: core.Pod): boolean {
  const seccomp = (of: core.Pod, key: string) => of.metadata.annotations?.[key];
  const POD = "seccomp.security.alpha.kubernetes.io/pod";
  if (seccomp(pod, POD) !== seccomp(old, POD)) return true;
  const differs = (container: core.Container | core.EphemeralContainer, before?: { image?: string }) => {
    const key = `container.seccomp.security.alpha.kubernetes.io/${container.name}`;
    return before === undefined || container.image !== before.image || seccomp(pod, key) !== seccomp(old, key);
  };
  for (const sort of ["containers", "initContainers"] as const) {
    const [now, then] = [pod.spec?.[sort] ?? [], old.spec?.[sort] ?? []];
    if (now.length !== then.length || now.some((container, i) => differs(container, then[i]))) return true;
  }
  const before = new Map((old.spec?.ephemeralContainers ?? []).map((each) => [each.name, each]));
  return (pod.spec?.ephemeralContainers ?? []).some((each) => differs(each, before.get(each.name)));
}
