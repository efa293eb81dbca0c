/** Arguments of the in-tree plugins: defaulted and validated, with the error messages of Kubernetes. */
import { type core, durationMs, type FieldError, type FieldPath, field, type Json, validateLabelSelector } from "#api";
import {
  DEFAULT_ARGUMENTS,
  type NodeResourcesFitArgs,
  type PluginArguments,
  type PodTopologySpreadArgs,
  type ResourceSpec,
  type ScoringStrategyType,
  type ShapePoint,
} from "../framework/index.ts";
import { checkLabelName } from "./check-names.ts";
import { checkNodeSelector, checkPreferredTerms } from "./check-node-selector.ts";

/** The fields in the file, whose types decoding has checked. */
type Given<T> = { readonly [K in keyof T]?: T[K] };
type Reader<T> = (given: Given<T>, path: FieldPath, errors: FieldError[]) => T;

export const argumentReaders: { readonly [Name in keyof PluginArguments]: Reader<PluginArguments[Name]> } = {
  DefaultPreemption: (given, path, errors) => {
    const args = { ...DEFAULT_ARGUMENTS.DefaultPreemption, ...withoutType(given) };
    const percentage = args.minCandidateNodesPercentage;
    const absolute = args.minCandidateNodesAbsolute;
    const [first, second] = [path.child("minCandidateNodesPercentage"), path.child("minCandidateNodesAbsolute")];
    if (percentage < 0 || percentage > 100)
      errors.push(field.invalid(first, percentage, "not in valid range [0, 100]"));
    if (absolute < 0) errors.push(field.invalid(second, absolute, "not in valid range [0, inf)"));
    if (percentage === 0 && absolute === 0) {
      errors.push(field.invalid(first, percentage, "cannot be zero at the same time as minCandidateNodesAbsolute"));
      errors.push(field.invalid(second, absolute, "cannot be zero at the same time as minCandidateNodesPercentage"));
    }
    return args;
  },
  DynamicResources: (given, path, errors) => {
    const args = { ...DEFAULT_ARGUMENTS.DynamicResources, ...withoutType(given) };
    const { filterTimeout, bindingTimeout } = args;
    if (durationMs(filterTimeout) < 0)
      errors.push(field.invalid(path.child("filterTimeout"), filterTimeout, "must be zero or positive"));
    if (durationMs(bindingTimeout) < 1_000)
      errors.push(field.invalid(path.child("bindingTimeout"), bindingTimeout, "must be at least 1 second"));
    return args;
  },
  InterPodAffinity: (given, path, errors) => {
    const args = { ...DEFAULT_ARGUMENTS.InterPodAffinity, ...withoutType(given) };
    const weight = args.hardPodAffinityWeight;
    if (weight < 0 || weight > 100)
      errors.push(field.invalid(path.child("hardPodAffinityWeight"), weight, "not in valid range [0, 100]"));
    return args;
  },
  NodeAffinity: (given, path, errors) => {
    const { addedAffinity } = given;
    const added = path.child("addedAffinity");
    const required = addedAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    if (required !== undefined)
      errors.push(...checkNodeSelector(required, added.child("requiredDuringSchedulingIgnoredDuringExecution")));
    const preferred = addedAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    errors.push(...checkPreferredTerms(preferred, added.child("preferredDuringSchedulingIgnoredDuringExecution")));
    return addedAffinity === undefined ? {} : { addedAffinity };
  },
  NodeResourcesBalancedAllocation: ({ resources = [] }, path, errors) => {
    const weighted = withWeights(resources);
    const seen = new Set<string>();
    for (const [i, { name, weight }] of weighted.entries()) {
      const where = path.child("resources").index(i);
      if (seen.has(name)) errors.push(field.duplicate(where.child("name"), name));
      seen.add(name);
      if (weight !== 1) errors.push(field.invalid(where.child("weight"), weight, "must be 1"));
    }
    return { resources: weighted };
  },
  NodeResourcesFit: readFit,
  PodTopologySpread: readSpread,
  VolumeBinding: (given, path, errors) => {
    const { bindTimeoutSeconds = DEFAULT_ARGUMENTS.VolumeBinding.bindTimeoutSeconds, shape } = given as Given<
      PluginArguments["VolumeBinding"]
    > & { readonly shape?: Json };
    if (bindTimeoutSeconds < 0)
      errors.push(
        field.invalid(
          path.child("bindTimeoutSeconds"),
          bindTimeoutSeconds,
          "invalid BindTimeoutSeconds, should not be a negative value",
        ),
      );
    if (shape !== undefined)
      errors.push(
        field.invalid(
          path.child("shape"),
          shape,
          "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring",
        ),
      );
    return { bindTimeoutSeconds };
  },
};

function withoutType<T extends object>(given: T): T {
  const { kind: _, apiVersion: __, ...rest } = given as T & { kind?: string; apiVersion?: string };
  return rest as T;
}

function withWeights(resources: readonly ResourceSpec[]): readonly ResourceSpec[] {
  if (resources.length === 0) return DEFAULT_ARGUMENTS.NodeResourcesFit.scoringStrategy.resources;
  return resources.map(({ name = "", weight }) => ({ name, weight: weight || 1 }));
}

const STRATEGIES: readonly string[] = ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"];

function readFit(given: Given<NodeResourcesFitArgs>, path: FieldPath, errors: FieldError[]): NodeResourcesFitArgs {
  const { ignoredResources = [], ignoredResourceGroups = [], scoringStrategy } = given;
  for (const [i, name] of ignoredResources.entries())
    errors.push(...checkLabelName(name, path.child("ignoredResources").index(i)));
  for (const [i, group] of ignoredResourceGroups.entries()) {
    const where = path.child("ignoredResourceGroups").index(i);
    if (group.includes("/")) errors.push(field.invalid(where, group, "resource group name can't contain '/'"));
    errors.push(...checkLabelName(group, where));
  }
  const where = path.child("scoringStrategy");
  const type: string = scoringStrategy === undefined ? "LeastAllocated" : (scoringStrategy.type ?? "");
  if (!STRATEGIES.includes(type)) errors.push(field.notSupported(where.child("type"), type, STRATEGIES));
  const resources = withWeights(scoringStrategy?.resources ?? []);
  for (const [i, { name, weight }] of resources.entries())
    if (weight <= 0 || weight > 100)
      errors.push(
        field.invalid(
          where.child("resources").index(i).child("weight"),
          weight,
          `resource weight of ${name} not in valid range (0, 100]`,
        ),
      );
  const ratio = scoringStrategy?.requestedToCapacityRatio;
  if (ratio !== undefined || type === "RequestedToCapacityRatio")
    errors.push(...checkShape(ratio?.shape ?? [], where.child("shape")));
  const shape = (ratio?.shape ?? []).map(({ utilization = 0, score = 0 }) => ({ utilization, score }));
  return {
    ignoredResources,
    ignoredResourceGroups,
    scoringStrategy: {
      type: type as ScoringStrategyType,
      resources,
      ...(ratio === undefined ? {} : { requestedToCapacityRatio: { shape } }),
    },
  };
}

function checkShape(shape: readonly Partial<ShapePoint>[], path: FieldPath): readonly FieldError[] {
  if (shape.length === 0) return [field.required(path, "at least one point must be specified")];
  const points = shape.map(({ utilization = 0, score = 0 }) => ({ utilization, score }));
  const errors: FieldError[] = [];
  const unsorted = points.findIndex(({ utilization }, i) => (points[i - 1]?.utilization ?? -Infinity) >= utilization);
  if (unsorted > 0)
    errors.push(
      field.invalid(
        path.index(unsorted).child("utilization"),
        points[unsorted]?.utilization,
        "values must be sorted in increasing order",
      ),
    );
  for (const [i, { utilization, score }] of points.entries()) {
    if (utilization < 0 || utilization > 100)
      errors.push(field.invalid(path.index(i).child("utilization"), utilization, "not in valid range [0, 100]"));
    if (score < 0 || score > 10)
      errors.push(field.invalid(path.index(i).child("score"), score, "not in valid range [0, 10]"));
  }
  return errors;
}

function readSpread(given: Given<PodTopologySpreadArgs>, path: FieldPath, errors: FieldError[]): PodTopologySpreadArgs {
  const { defaultConstraints = [] } = given;
  const defaultingType: string = given.defaultingType ?? "System";
  const where = path.child("defaultingType");
  if (defaultingType !== "System" && defaultingType !== "List")
    errors.push(field.notSupported(where, defaultingType, ["System", "List"]));
  else if (defaultingType === "System" && defaultConstraints.length > 0)
    errors.push(field.invalid(where, defaultingType, "when .defaultConstraints are not empty"));
  for (const [i, constraint] of defaultConstraints.entries())
    errors.push(
      ...checkConstraint(constraint, defaultConstraints.slice(0, i), path.child("defaultConstraints").index(i)),
    );
  return { defaultingType: defaultingType === "List" ? "List" : "System", defaultConstraints };
}

function checkConstraint(
  constraint: core.TopologySpreadConstraint,
  before: readonly core.TopologySpreadConstraint[],
  path: FieldPath,
): readonly FieldError[] {
  const { maxSkew = 0, topologyKey = "", labelSelector } = constraint;
  const action: string = constraint.whenUnsatisfiable ?? "";
  const errors: FieldError[] = [];
  if (maxSkew <= 0) errors.push(field.invalid(path.child("maxSkew"), maxSkew, "not in valid range (0, inf)"));
  const key = path.child("topologyKey");
  if (topologyKey === "") errors.push(field.required(key, "can not be empty"));
  else errors.push(...checkLabelName(topologyKey, key));
  const when = path.child("whenUnsatisfiable");
  if (action === "") errors.push(field.required(when, "can not be empty"));
  else if (action !== "DoNotSchedule" && action !== "ScheduleAnyway")
    errors.push(field.notSupported(when, action, ["DoNotSchedule", "ScheduleAnyway"]));
  if (labelSelector !== undefined)
    errors.push(
      field.forbidden(
        path.child("labelSelector"),
        "constraint must not define a selector, as they deduced for each pod",
      ),
      ...validateLabelSelector(labelSelector, path.child("labelSelector")),
    );
  if (before.some((other) => other.topologyKey === topologyKey && other.whenUnsatisfiable === action))
    errors.push(field.duplicate(path, `{${topologyKey}, ${action}}`));
  return errors;
}

export function isBuiltInWithArguments(name: string): name is keyof PluginArguments {
  return Object.hasOwn(argumentReaders, name);
}
