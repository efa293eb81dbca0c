/**
 * The order of groups, and of the versions in a group; the first version is the preferred one.
 *
 * 1. The same rule as for APIService objects: groups by priority, then by name; versions by priority, then by version
 *    order.
 */
import { table } from "#base";

export interface Priority {
  /** `groupPriorityMinimum` of an APIService. A group has the highest of its versions. */
  readonly group: number;
  /** `versionPriority` of an APIService. */
  readonly version: number;
}

/** Group, its priority, the priority of its versions: those of kube-apiserver's own APIServices. */
const BUILT_IN = new Map(
  `
  - 18000 v1=1
  apiregistration.k8s.io 20000 v1=15
  apps 17800 v1=15
  events.k8s.io 17750 v1=15
  authentication.k8s.io 17700 v1=15
  authorization.k8s.io 17600 v1=15
  autoscaling 17500 v1=15 v2=30
  batch 17400 v1=15
  certificates.k8s.io 17300 v1=15 v1beta1=9 v1alpha1=1
  networking.k8s.io 17200 v1=15 v1beta1=9
  policy 17100 v1=15
  rbac.authorization.k8s.io 17000 v1=15
  storage.k8s.io 16800 v1=15 v1beta1=9
  admissionregistration.k8s.io 16700 v1=15 v1beta1=12 v1alpha1=9
  apiextensions.k8s.io 16700 v1=15
  scheduling.k8s.io 16600 v1=15 v1alpha2=9
  coordination.k8s.io 16500 v1=15 v1beta1=13 v1alpha2=12
  node.k8s.io 16300 v1=15
  discovery.k8s.io 16200 v1=15
  resource.k8s.io 16200 v1=21 v1beta2=15 v1beta1=9 v1alpha3=1
  flowcontrol.apiserver.k8s.io 16100 v1=21
  internal.apiserver.k8s.io 16000 v1alpha1=9
  storagemigration.k8s.io 15800 v1beta1=9`
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [group = "", priority, ...versions] = line.trim().split(" ");
      return versions.map((entry): [string, Priority] => {
        const [version, value] = entry.split("=");
        return [`${group === "-" ? "" : group}/${version}`, { group: Number(priority), version: Number(value) }];
      });
    }),
);

const CUSTOM: Priority = { group: 1000, version: 100 };

/** The priority of an API without one of its own. */
export function defaultPriority(group: string, version: string): Priority {
  return BUILT_IN.get(`${group}/${version}`) ?? CUSTOM;
}

interface Ranked {
  readonly group: string;
  readonly version: string;
  readonly priority?: Priority;
}

const priorityOf = ({ group, version, priority }: Ranked): Priority => priority ?? defaultPriority(group, version);

/** A group is the list of its versions, which is never empty. */
export function compareGroups(a: readonly Ranked[], b: readonly Ranked[]): number {
  const rank = (versions: readonly Ranked[]) => Math.max(...versions.map((it) => priorityOf(it).group));
  const name = (versions: readonly Ranked[]) => versions[0]?.group ?? "";
  return rank(b) - rank(a) || (name(a) < name(b) ? -1 : 1);
}

export function compareVersions(a: Ranked, b: Ranked): number {
  return priorityOf(b).version - priorityOf(a).version || compareVersionNames(a.version, b.version);
}

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const STABILITY: Readonly<Record<string, number>> = table({ alpha: 1, beta: 2 });

/**
 * The documented order of version names: v10, v2, v1, v11beta2, v10beta3, v3beta1, v12alpha1, then all others by the
 * alphabet.
 */
export function compareVersionNames(a: string, b: string): number {
  const [one, other] = [VERSION.exec(a), VERSION.exec(b)];
  if (one === null || other === null) {
    if (one !== null) return -1;
    if (other !== null) return 1;
    return a === b ? 0 : a < b ? -1 : 1;
  }
  const stability = (match: RegExpExecArray) => STABILITY[match[2] ?? ""] ?? 3;
  const part = (match: RegExpExecArray, at: number) => Number(match[at] ?? 0);
  return stability(other) - stability(one) || part(other, 1) - part(one, 1) || part(other, 3) - part(one, 3);
}
