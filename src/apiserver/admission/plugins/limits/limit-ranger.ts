/** LimitRanger: defaults and bounds from the LimitRanges of a namespace, for containers, Pods and claims. */
import type { core, Draft, KubeObject } from "#api";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import { aggregate } from "../../chain/aggregate.ts";
import { type AdmissionPlugin, type Admit, type ClusterView, podOf, refused, rule } from "../../chain/plugin.ts";
import { claimFaults, podFaults } from "./limit-range-bounds.ts";

const ANNOTATION = "kubernetes.io/limit-ranger";

const defaulted: Admit = (attributes, cluster) => {
  for (const range of rangesOf(attributes, cluster)) fillIn(podOf(attributes), range);
};

function bounded<T extends KubeObject>(faultsOf: (range: core.LimitRange, object: T) => readonly string[]): Admit {
  return (attributes, cluster) => {
    for (const range of rangesOf(attributes, cluster)) {
      const faults = faultsOf(range, attributes.object as T);
      if (faults.length > 0) throw refused(attributes, aggregate(faults));
    }
  };
}

export const limitRanger: AdmissionPlugin = {
  name: "LimitRanger",
  mutates: [rule("CREATE", "pods", defaulted), rule("UPDATE", "pods/resize", defaulted)],
  validates: [
    rule("CREATE", "pods", bounded(podFaults)),
    rule("UPDATE", "pods/resize", bounded(podFaults)),
    rule("CREATE UPDATE", "persistentvolumeclaims", bounded(claimFaults)),
  ],
};

/** None for objects that are being deleted: nothing may hold that up. */
function rangesOf({ namespace, old }: AdmissionAttributes, cluster: ClusterView): readonly core.LimitRange[] {
  if (old?.metadata.deletionTimestamp !== undefined) return [];
  return cluster.listIn<core.LimitRange>("", "v1", "limitranges", namespace);
}

type Amounts = Readonly<Record<string, string>>;

/** Adds an annotation that lists the defaults. */
function fillIn(pod: ReturnType<typeof podOf>, { spec }: core.LimitRange): void {
  const items = (spec?.limits ?? []).filter(({ type }) => type === "Container");
  const limits: Amounts = Object.assign({}, ...items.map((item) => item.default ?? {}));
  const requests: Amounts = Object.assign({}, ...items.map((item) => item.defaultRequest ?? {}));
  const notes: string[] = [];
  const sorts = [
    ["container", pod.spec.containers],
    ["init container", pod.spec.initContainers ?? []],
  ] as const;
  for (const [sort, containers] of sorts) {
    for (const container of containers) {
      const filled = {
        limit: fill(container, "limits", limits),
        request: fill(container, "requests", requests),
      };
      for (const side of ["request", "limit"] as const) {
        if (filled[side].length > 0) notes.push(`${filled[side].join(", ")} ${side} for ${sort} ${container.name}`);
      }
    }
  }
  if (notes.length === 0) return;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${notes.join("; ")}`,
  };
}

/** The names that were missing, sorted. */
function fill(container: Draft<core.Container>, side: "limits" | "requests", defaults: Amounts): readonly string[] {
  const present = container.resources?.[side] ?? {};
  const missing = Object.keys(defaults)
    .filter((name) => present[name] === undefined)
    .sort();
  if (missing.length === 0) return missing;
  const amounts = { ...present, ...Object.fromEntries(missing.map((name) => [name, defaults[name] ?? "0"])) };
  const sorted = Object.fromEntries(Object.entries(amounts).sort(([a], [b]) => (a < b ? -1 : 1)));
  container.resources = { ...container.resources, [side]: sorted };
  return missing;
}
