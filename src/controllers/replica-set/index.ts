/** ReplicaSets and ReplicationControllers: keep the wanted number of Pods. */
import { kinds, matcherOfSelector } from "#api";
import { replicaController } from "./controller.ts";

export const replicaSetController = replicaController({
  name: "replicaset-controller",
  account: "replicaset-controller",
  resource: kinds.ReplicaSet,
  group: "apps",
  kind: "ReplicaSet",
  selectorOf: ({ spec }) => matcherOfSelector(spec?.selector),
  replicated: (set) => ({
    object: set,
    kind: { apiVersion: "apps/v1", kind: "ReplicaSet" },
    replicas: set.spec?.replicas ?? 1,
    minReadySeconds: set.spec?.minReadySeconds ?? 0,
    template: set.spec?.template,
    status: set.status ?? { replicas: 0 },
    countsTerminating: true,
    withStatus: (status) => ({ verb: "updateStatus", resource: kinds.ReplicaSet, object: { ...set, status } }),
  }),
});

export const replicationController = replicaController({
  name: "replicationcontroller-controller",
  account: "replication-controller",
  resource: kinds.ReplicationController,
  group: "",
  kind: "ReplicationController",
  selectorOf: ({ spec }) => matcherOfSelector({ matchLabels: spec?.selector ?? {} }),
  replicated: (set) => ({
    object: set,
    kind: { apiVersion: "v1", kind: "ReplicationController" },
    replicas: set.spec?.replicas ?? 1,
    minReadySeconds: set.spec?.minReadySeconds ?? 0,
    template: set.spec?.template,
    status: set.status ?? { replicas: 0 },
    countsTerminating: false,
    withStatus: (status) => ({
      verb: "updateStatus",
      resource: kinds.ReplicationController,
      object: { ...set, status },
    }),
  }),
});
