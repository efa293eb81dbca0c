/** Written by scripts/api-facts.ts: all tables. */
import { admissionV1 } from "./admission-v1.ts";
import { admissionregistrationV1 } from "./admissionregistration-v1.ts";
import { apidiscoveryV2 } from "./apidiscovery-v2.ts";
import { apiextensionsV1 } from "./apiextensions-v1.ts";
import { apiregistrationV1 } from "./apiregistration-v1.ts";
import { appsV1 } from "./apps-v1.ts";
import { authenticationV1 } from "./authentication-v1.ts";
import { authorizationV1 } from "./authorization-v1.ts";
import { autoscalingV1 } from "./autoscaling-v1.ts";
import { autoscalingV2 } from "./autoscaling-v2.ts";
import { batchV1 } from "./batch-v1.ts";
import { certificatesV1 } from "./certificates-v1.ts";
import { coordinationV1 } from "./coordination-v1.ts";
import { coreV1 } from "./core-v1.ts";
import { discoveryV1 } from "./discovery-v1.ts";
import { eventsV1 } from "./events-v1.ts";
import { flowcontrolV1 } from "./flowcontrol-v1.ts";
import { metaV1 } from "./meta-v1.ts";
import { networkingV1 } from "./networking-v1.ts";
import { nodeV1 } from "./node-v1.ts";
import { policyV1 } from "./policy-v1.ts";
import { rbacV1 } from "./rbac-v1.ts";
import { resourceV1 } from "./resource-v1.ts";
import { schedulingV1 } from "./scheduling-v1.ts";
import { storageV1 } from "./storage-v1.ts";
import { types } from "./types.ts";
import { version } from "./version.ts";

export const tables: readonly string[] = [
  admissionV1,
  admissionregistrationV1,
  apidiscoveryV2,
  apiextensionsV1,
  apiregistrationV1,
  appsV1,
  authenticationV1,
  authorizationV1,
  autoscalingV1,
  autoscalingV2,
  batchV1,
  certificatesV1,
  coordinationV1,
  coreV1,
  discoveryV1,
  eventsV1,
  flowcontrolV1,
  metaV1,
  networkingV1,
  nodeV1,
  policyV1,
  rbacV1,
  resourceV1,
  schedulingV1,
  storageV1,
  types,
  version,
];
