/** PodTolerationRestriction: default tolerations, and the allowed tolerations, from annotations of the namespace. */
import { type core, type Draft, isObject, type Json, type JsonObject, parseJson, qosClassOf, StatusError } from "#api";
import { AdmissionConfigError } from "../../chain/configuration.ts";
import { type AdmissionPlugin, type Admit, type ClusterView, podOf, rule } from "../../chain/plugin.ts";
import { areWithin, mergeTolerations } from "./tolerations.ts";

const NAME = "PodTolerationRestriction";
const DEFAULTS = "scheduler.alpha.kubernetes.io/defaultTolerations";
const WHITELIST = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";
const MEMORY_PRESSURE: core.Toleration = {
  key: "node.kubernetes.io/memory-pressure",
  operator: "Exists",
  effect: "NoSchedule",
};

export function podTolerationRestriction(configuration: JsonObject | undefined): AdmissionPlugin {
  const forAll = {
    default: configured(configuration?.default, "default"),
    whitelist: configured(configuration?.whitelist, "whitelist"),
  };
  const check: Admit = (attributes, cluster) => {
    const tolerations = podOf(attributes).spec.tolerations ?? [];
    const own = ofNamespace(cluster, attributes.namespace, WHITELIST);
    const allowed = own ?? forAll.whitelist;
    if (tolerations.length === 0 || allowed.length === 0 || areWithin(tolerations, allowed)) return;
    const scope = own === undefined ? "cluster" : "namespace";
    const why = `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`;
    throw new StatusError("", why, { code: 500 });
  };
  const merge: Admit = (attributes, cluster, rounds) => {
    const pod = podOf(attributes);
    const given =
      attributes.operation === "CREATE" ? (ofNamespace(cluster, attributes.namespace, DEFAULTS) ?? forAll.default) : [];
    const extra = qosClassOf(pod as core.Pod) === "BestEffort" ? [] : [MEMORY_PRESSURE];
    if (given.length + extra.length > 0) {
      const merged = mergeTolerations(given, mergeTolerations(pod.spec.tolerations ?? [], extra));
      pod.spec.tolerations = structuredClone(merged) as Draft<core.Toleration>[];
    }
    return check(attributes, cluster, rounds);
  };
  return {
    name: NAME,
    mutates: [rule("CREATE UPDATE", "pods", merge)],
    validates: [rule("CREATE UPDATE", "pods", check)],
  };
}

/** Undefined if the namespace has no annotation; an empty list is a value. */
function ofNamespace(cluster: ClusterView, name: string, annotation: string): readonly core.Toleration[] | undefined {
  const text = cluster.get("", "v1", "namespaces", "", name)?.metadata.annotations?.[annotation];
  if (text === undefined || text === "") return undefined;
  try {
    return tolerationList(parseJson(text));
  } catch (error) {
    throw new StatusError("", (error as Error).message, { code: 500, cause: error });
  }
}

function configured(value: Json | undefined, name: string): readonly core.Toleration[] {
  try {
    return value === undefined ? [] : tolerationList(value);
  } catch {
    throw new AdmissionConfigError(NAME, `${name} has to be a list of tolerations`);
  }
}

function tolerationList(value: Json): readonly core.Toleration[] {
  if (!Array.isArray(value) || !value.every(isObject)) throw new Error("tolerations have to be a list of objects");
  return value as unknown as readonly core.Toleration[];
}
