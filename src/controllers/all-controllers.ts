/** Every controller of the controller manager, in the order in which they are started. */
import { clusterRoleAggregation } from "./cluster-role-aggregation/index.ts";
import { garbageCollector } from "./garbage-collector/index.ts";
import { namespaceController } from "./namespace/index.ts";
import { replicaSetController, replicationController } from "./replica-set/index.ts";
import { rootCaPublisher } from "./root-ca/index.ts";
import type { Controller } from "./runtime/index.ts";
import { serviceAccountController } from "./service-account/index.ts";

export interface ClusterFacts {
  /** The authority of the API server's certificate. */
  readonly caPem: string;
}

export function allControllers({ caPem }: ClusterFacts): readonly Controller[] {
  return [
    namespaceController,
    serviceAccountController,
    rootCaPublisher(caPem),
    replicaSetController,
    replicationController,
    garbageCollector,
    clusterRoleAggregation,
  ];
}
