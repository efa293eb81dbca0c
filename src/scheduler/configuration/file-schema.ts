/** The schema of KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) and of plugin arguments. */
import { type ListSchema, type ObjectSchema, type Schema, typeSchema } from "#api";
import { EXTENSION_POINTS, type PluginArguments } from "../framework/index.ts";

export const CONFIG_GROUP = "kubescheduler.config.k8s.io";
export const CONFIG_VERSION = `${CONFIG_GROUP}/v1`;
export const CONFIG_KIND = "KubeSchedulerConfiguration";

const text: Schema = { type: "string" };
const flag: Schema = { type: "boolean" };
const int32: Schema = { type: "int32" };
const int64: Schema = { type: "int64" };
const duration: Schema = { type: "duration" };
const bytes: Schema = { type: "bytes" };

/** Absent fields stay absent: defaults depend on their presence. */
function struct(name: string, fields: Readonly<Record<string, Schema>>): ObjectSchema {
  return {
    type: "object",
    goType: `io.k8s.kube-scheduler.config.v1.${name}`,
    fields: new Map(
      Object.entries(fields).map(([field, schema]) => [
        field,
        { name: field, number: 0, schema, required: false, pointer: true, omit: "empty" as const },
      ]),
    ),
  };
}

function listOf(items: Schema): ListSchema {
  return { type: "list", items, listType: "atomic", keys: [] };
}

const pluginSet = struct("PluginSet", {
  enabled: listOf(struct("Plugin", { name: text, weight: int32 })),
  disabled: listOf(struct("Plugin", { name: text, weight: int32 })),
});

const plugins = struct(
  "Plugins",
  Object.fromEntries([...EXTENSION_POINTS, "multiPoint"].map((point) => [point, pluginSet])),
);

const profile = struct("KubeSchedulerProfile", {
  schedulerName: text,
  percentageOfNodesToScore: int32,
  plugins,
  pluginConfig: listOf(struct("PluginConfig", { name: text, args: { type: "any" } })),
});

const extender = struct("Extender", {
  urlPrefix: text,
  filterVerb: text,
  preemptVerb: text,
  prioritizeVerb: text,
  weight: int64,
  bindVerb: text,
  enableHTTPS: flag,
  tlsConfig: struct("ExtenderTLSConfig", {
    insecure: flag,
    serverName: text,
    certFile: text,
    keyFile: text,
    caFile: text,
    certData: bytes,
    keyData: bytes,
    caData: bytes,
  }),
  httpTimeout: duration,
  nodeCacheCapable: flag,
  managedResources: listOf(struct("ExtenderManagedResource", { name: text, ignoredByScheduler: flag })),
  ignorable: flag,
});

export const fileSchema: ObjectSchema = struct(CONFIG_KIND, {
  kind: text,
  apiVersion: text,
  parallelism: int32,
  leaderElection: struct("LeaderElectionConfiguration", {
    leaderElect: flag,
    leaseDuration: duration,
    renewDeadline: duration,
    retryPeriod: duration,
    resourceLock: text,
    resourceName: text,
    resourceNamespace: text,
  }),
  clientConnection: struct("ClientConnectionConfiguration", {
    kubeconfig: text,
    acceptContentTypes: text,
    contentType: text,
    qps: { type: "double" },
    burst: int32,
  }),
  enableProfiling: flag,
  enableContentionProfiling: flag,
  percentageOfNodesToScore: int32,
  podInitialBackoffSeconds: int64,
  podMaxBackoffSeconds: int64,
  profiles: listOf(profile),
  extenders: listOf(extender),
  delayCacheUntilActive: flag,
});

const resources = listOf(struct("ResourceSpec", { name: text, weight: int64 }));
const shape = listOf(struct("UtilizationShapePoint", { utilization: int32, score: int32 }));

function args(plugin: string, fields: Readonly<Record<string, Schema>>): ObjectSchema {
  return struct(`${plugin}Args`, { kind: text, apiVersion: text, ...fields });
}

export const argumentSchemas: Readonly<Record<keyof PluginArguments, ObjectSchema>> = {
  DefaultPreemption: args("DefaultPreemption", {
    minCandidateNodesPercentage: int32,
    minCandidateNodesAbsolute: int32,
  }),
  DynamicResources: args("DynamicResources", { filterTimeout: duration, bindingTimeout: duration }),
  InterPodAffinity: args("InterPodAffinity", {
    hardPodAffinityWeight: int32,
    ignorePreferredTermsOfExistingPods: flag,
  }),
  NodeAffinity: args("NodeAffinity", { addedAffinity: typeSchema("io.k8s.api.core.v1.NodeAffinity") }),
  NodeResourcesBalancedAllocation: args("NodeResourcesBalancedAllocation", { resources }),
  NodeResourcesFit: args("NodeResourcesFit", {
    ignoredResources: listOf(text),
    ignoredResourceGroups: listOf(text),
    scoringStrategy: struct("ScoringStrategy", {
      type: text,
      resources,
      requestedToCapacityRatio: struct("RequestedToCapacityRatioParam", { shape }),
    }),
  }),
  PodTopologySpread: args("PodTopologySpread", {
    defaultingType: text,
    defaultConstraints: listOf(typeSchema("io.k8s.api.core.v1.TopologySpreadConstraint")),
  }),
  VolumeBinding: args("VolumeBinding", { bindTimeoutSeconds: int64, shape }),
};
