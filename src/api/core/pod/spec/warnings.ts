/** Warnings about pods and pod templates that are valid but probably not what their author intended. */
import { table } from "#base";
import { ipWarnings } from "../../../definition/ip-warnings.ts";
import { at, type FieldPath } from "../../../machinery/errors/field-error.ts";
import { goQuote } from "../../../machinery/json/go-text.ts";
import { checkDns1123Label, checkLabelValue } from "../../../machinery/names/names.ts";
import { parseQuantity, scaledValue } from "../../../machinery/scalars/quantity.ts";
import type {
  NodeSelectorTerm,
  Pod,
  PodAffinity,
  PodSpec,
  PodTemplateSpec,
  ResourceRequirements,
  Volume,
} from "../../../types/core-v1.ts";
import { envWarnings, portWarnings } from "../containers/warnings.ts";
import {
  type Annotations,
  appArmorOf,
  containerAppArmor,
  containerSeccomp,
  podSeccomp,
} from "../fields/annotations.ts";
import { allContainers, placedContainers } from "../fields/visit.ts";
import { pathWarnings } from "../volumes/path-warnings.ts";

export function podWarnings(pod: Pod): readonly string[] {
  const faults = checkDns1123Label(pod.metadata.name ?? "");
  const surprising =
    "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  return [
    ...(faults.length === 0 ? [] : [`metadata.name: ${surprising}: [${faults.join(" ")}]`]),
    ...specWarnings(pod.spec, pod.metadata.annotations, at(), true),
  ];
}

/** `where` is the template's own place, such as `spec.template`. */
export function podTemplateWarnings(template: PodTemplateSpec | undefined, where: FieldPath): readonly string[] {
  return specWarnings(template?.spec, template?.metadata?.annotations, where, false);
}

function specWarnings(
  given: PodSpec | undefined,
  annotations: Annotations = {},
  root: FieldPath,
  isPod: boolean,
): readonly string[] {
  const spec = given ?? { containers: [] };
  const path = root.child("spec");
  const meta = root.child("metadata", "annotations");
  const containers = placedContainers(spec, path);
  const { volumes, hostAliases, imagePullSecrets, overhead, affinity, dnsConfig } = spec;
  const warnings: string[] = [];
  const add = (found: readonly string[]) => {
    for (const warning of found) warnings.push(warning);
  };
  // Most pods have few of these parts: only those that exist are walked.
  add(nodeLabelWarnings(spec, path));
  if (spec.topologySpreadConstraints) add(spreadWarnings(spec, path.child("topologySpreadConstraints")));
  for (const [key, why] of oldAnnotations)
    if (annotations[key] !== undefined) warnings.push(`${meta.key(key)}: ${why}`);
  if (volumes) {
    const at = path.child("volumes");
    add(volumes.flatMap((volume, i) => volumeWarnings(volume, at.index(i))));
    for (const volume of volumes) add(pathWarnings(volume));
  }
  if (hostAliases)
    add(
      repeated(
        hostAliases.map(({ ip }) => ip),
        "ip",
        path.child("hostAliases"),
      ),
    );
  if (imagePullSecrets) add(pullSecretWarnings(imagePullSecrets, path.child("imagePullSecrets")));
  if (overhead) for (const name of BYTES) add(fractionWarnings(overhead, name, path.child("overhead")));
  add(profileWarnings(spec, annotations, meta, isPod));
  for (const { container, path: where } of containers) {
    if (container.resources) add(resourceFractions(container.resources, where));
    if (container.env) add(envWarnings(container.env, where.child("env")));
  }
  add(portWarnings(containers));
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    const at = path.child("terminationGracePeriodSeconds");
    add([`${at}: must be >= 0; negative values are invalid and will be treated as 1`]);
  }
  add(affinityWarnings(affinity?.podAffinity, path.child("affinity", "podAffinity")));
  add(affinityWarnings(affinity?.podAntiAffinity, path.child("affinity", "podAntiAffinity")));
  for (const [i, { ip }] of (hostAliases ?? []).entries())
    add(ipWarnings(ip, path.child("hostAliases").index(i).child("ip")));
  for (const [i, ip] of (dnsConfig?.nameservers ?? []).entries())
    add(ipWarnings(ip, path.child("dnsConfig", "nameservers").index(i)));
  return warnings;
}

function pullSecretWarnings(secrets: NonNullable<PodSpec["imagePullSecrets"]>, at: FieldPath): readonly string[] {
  return [
    ...repeated(
      secrets.map(({ name = "" }) => name),
      "name",
      at,
    ),
    ...secrets.flatMap(({ name }, i) => (name ? [] : [`${at.index(i).child("name")}: invalid empty name ""`])),
  ];
}

const oldNodeLabels: Readonly<Record<string, string>> = table({
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
});

const oldAnnotations: readonly (readonly [string, string])[] = [
  ["scheduler.alpha.kubernetes.io/critical-pod", 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ["security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  ["security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
];

function nodeLabelWarnings({ nodeSelector = {}, affinity }: PodSpec, at: FieldPath): readonly string[] {
  if (Object.keys(nodeSelector).length === 0 && affinity?.nodeAffinity === undefined) return [];
  const {
    requiredDuringSchedulingIgnoredDuringExecution: needed,
    preferredDuringSchedulingIgnoredDuringExecution: wished = [],
  } = affinity?.nodeAffinity ?? {};
  const path = at.child("affinity", "nodeAffinity");
  const terms = path.child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
  const preferences = path.child("preferredDuringSchedulingIgnoredDuringExecution");
  return [
    ...Object.keys(nodeSelector).flatMap((key) => {
      const why = oldNodeLabels[key];
      return why === undefined ? [] : [`${at.child("nodeSelector").key(key)}: ${why}`];
    }),
    ...(needed?.nodeSelectorTerms ?? []).flatMap((term, i) => termWarnings(term, terms.index(i), false)),
    ...wished.flatMap(({ preference }, i) => termWarnings(preference, preferences.index(i).child("preference"), true)),
  ];
}

function termWarnings(
  { matchExpressions = [] }: NodeSelectorTerm,
  at: FieldPath,
  checkValues: boolean,
): readonly string[] {
  return matchExpressions.flatMap(({ key, values = [] }, i) => {
    const path = at.child("matchExpressions").index(i);
    const why = oldNodeLabels[key];
    const faults = checkValues ? values.map(checkLabelValue) : [];
    return [
      ...(why === undefined ? [] : [`${path.child("key")}: ${key} is ${why}`]),
      ...faults.flatMap((list, j) =>
        list.map((fault) => `${path.child("values").index(j)}: ${values[j]} is invalid, ${fault}`),
      ),
    ];
  });
}

function spreadWarnings({ topologySpreadConstraints = [] }: PodSpec, at: FieldPath): readonly string[] {
  return topologySpreadConstraints.flatMap(({ topologyKey, labelSelector }, i) => {
    const why = oldNodeLabels[topologyKey];
    return [
      ...(why === undefined ? [] : [`${at.index(i).child("topologyKey")}: ${topologyKey} is ${why}`]),
      ...(labelSelector === undefined ? [noSelector(at.index(i).child("labelSelector"))] : []),
    ];
  });
}

function noSelector(at: FieldPath): string {
  return `${at}: a null labelSelector results in matching no pod`;
}

function affinityWarnings(affinity: PodAffinity | undefined, at: FieldPath): readonly string[] {
  if (affinity === undefined) return [];
  const needed = at.child("requiredDuringSchedulingIgnoredDuringExecution");
  const wished = at.child("preferredDuringSchedulingIgnoredDuringExecution");
  return [
    ...(affinity.requiredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(({ labelSelector }, i) =>
      labelSelector === undefined ? [noSelector(needed.index(i).child("labelSelector"))] : [],
    ),
    ...(affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(({ podAffinityTerm }, i) =>
      podAffinityTerm.labelSelector === undefined
        ? [noSelector(wished.index(i).child("podAffinityTerm", "labelSelector"))]
        : [],
    ),
  ];
}

/** Former in-tree volume drivers, and the release that removed them. */
const oldVolumes: readonly (readonly [keyof Volume, string, string])[] = [
  ["photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

function volumeWarnings(volume: Volume, at: FieldPath): readonly string[] {
  const warnings: string[] = [];
  for (const [field, name, why] of oldVolumes)
    if (volume[field] !== undefined) warnings.push(`${at.child(name)}: ${why}`);
  const { limits, requests } = volume.ephemeral?.volumeClaimTemplate?.spec.resources ?? {};
  if (limits === undefined && requests === undefined) return warnings;
  const path = at.child("ephemeral", "volumeClaimTemplate", "spec", "resources");
  warnings.push(...fractionWarnings(requests, "storage", path.child("requests")));
  warnings.push(...fractionWarnings(limits, "storage", path.child("limits")));
  return warnings;
}

function repeated(values: readonly string[], field: string, at: FieldPath): readonly string[] {
  return values.flatMap((value, i) =>
    values.indexOf(value) < i ? [`${at.index(i).child(field)}: duplicate ${field} ${goQuote(value)}`] : [],
  );
}

/** Most amounts need no arithmetic. */
const WHOLE_BYTES = /^\d+(k|[MGTPE]|[KMGTPE]i)?$/;
const BYTES = ["memory", "ephemeral-storage"];
const SIDES = ["limits", "requests"] as const;

function resourceFractions(resources: ResourceRequirements | undefined, container: FieldPath): readonly string[] {
  const warnings: string[] = [];
  for (const name of BYTES) {
    for (const side of SIDES) {
      const amounts = resources?.[side];
      if (amounts?.[name] !== undefined)
        warnings.push(...fractionWarnings(amounts, name, container.child("resources", side)));
    }
  }
  return warnings;
}

function fractionWarnings(
  amounts: Readonly<Record<string, string>> | undefined,
  name: string,
  at: FieldPath,
): readonly string[] {
  const amount = amounts?.[name];
  if (amount === undefined || WHOLE_BYTES.test(amount) || scaledValue(parseQuantity(amount), -3) % 1000n === 0n)
    return [];
  return [`${at.key(name)}: fractional byte value ${goQuote(amount)} is invalid, must be an integer`];
}

/** Annotations that have become fields. A new pod gets its AppArmor fields from them before warnings are computed. */
function profileWarnings(spec: PodSpec, annotations: Annotations, meta: FieldPath, isPod: boolean): readonly string[] {
  if (Object.keys(annotations).length === 0) return [];
  const seccomp = (key: string) => `${meta.key(key)}: non-functional in v1.27+; use the "seccompProfile" field instead`;
  const warnings: string[] = [];
  if (annotations[podSeccomp] !== undefined && spec.securityContext?.seccompProfile === undefined)
    warnings.push(seccomp(podSeccomp));
  const ofPod = spec.securityContext?.appArmorProfile;
  for (const container of allContainers(spec)) {
    const key = `${containerSeccomp}${container.name}`;
    if (annotations[key] !== undefined && container.securityContext?.seccompProfile === undefined)
      warnings.push(seccomp(key));
    const appArmor = `${containerAppArmor}${container.name}`;
    const annotation = annotations[appArmor];
    if (annotation === undefined) continue;
    const own = container.securityContext?.appArmorProfile;
    const isTaken = isPod && own !== undefined && own.type === appArmorOf(annotation)?.type;
    if (isTaken || (own === undefined && ofPod === undefined)) {
      warnings.push(`${meta.key(appArmor)}: deprecated since v1.30; use the "appArmorProfile" field instead`);
    }
  }
  return warnings;
}
