/** Written by scripts/api-facts.ts: all tables. */
import { admissionV1 } from "./admission-v1.ts";
import { admissionregistrationV1 } from "./admissionregistration-v1.ts";
import { admissionregistrationV1alpha1 } from "./admissionregistration-v1alpha1.ts";
import { admissionregistrationV1beta1 } from "./admissionregistration-v1beta1.ts";
import { apidiscoveryV2 } from "./apidiscovery-v2.ts";
import { apiextensionsV1 } from "./apiextensions-v1.ts";
import { apiregistrationV1 } from "./apiregistration-v1.ts";
import { apiserverinternalV1alpha1 } from "./apiserverinternal-v1alpha1.ts";
import { appsV1 } from "./apps-v1.ts";
import { authenticationV1 } from "./authentication-v1.ts";
import { authorizationV1 } from "./authorization-v1.ts";
import { autoscalingV1 } from "./autoscaling-v1.ts";
import { autoscalingV2 } from "./autoscaling-v2.ts";
import { batchV1 } from "./batch-v1.ts";
import { certificatesV1 } from "./certificates-v1.ts";
import { certificatesV1alpha1 } from "./certificates-v1alpha1.ts";
import { certificatesV1beta1 } from "./certificates-v1beta1.ts";
import { coordinationV1 } from "./coordination-v1.ts";
import { coordinationV1alpha2 } from "./coordination-v1alpha2.ts";
import { coordinationV1beta1 } from "./coordination-v1beta1.ts";
import { coreV1 } from "./core-v1.ts";
import { discoveryV1 } from "./discovery-v1.ts";
import { eventsV1 } from "./events-v1.ts";
import { flowcontrolV1 } from "./flowcontrol-v1.ts";
import { metaV1 } from "./meta-v1.ts";
import { networkingV1 } from "./networking-v1.ts";
import { networkingV1beta1 } from "./networking-v1beta1.ts";
import { nodeV1 } from "./node-v1.ts";
import { policyV1 } from "./policy-v1.ts";
import { rbacV1 } from "./rbac-v1.ts";
import { resourceV1 } from "./resource-v1.ts";
import { resourceV1alpha3 } from "./resource-v1alpha3.ts";
import { resourceV1beta1 } from "./resource-v1beta1.ts";
import { resourceV1beta2 } from "./resource-v1beta2.ts";
import { schedulingV1 } from "./scheduling-v1.ts";
import { schedulingV1alpha2 } from "./scheduling-v1alpha2.ts";
import { storageV1 } from "./storage-v1.ts";
import { storageV1beta1 } from "./storage-v1beta1.ts";
import { storagemigrationV1beta1 } from "./storagemigration-v1beta1.ts";
import { types } from "./types.ts";
import { version } from "./version.ts";

export const tables: readonly string[] = [
  admissionV1,
  admissionregistrationV1,
  admissionregistrationV1alpha1,
  admissionregistrationV1beta1,
  apidiscoveryV2,
  apiextensionsV1,
  apiregistrationV1,
  apiserverinternalV1alpha1,
  appsV1,
  authenticationV1,
  authorizationV1,
  autoscalingV1,
  autoscalingV2,
  batchV1,
  certificatesV1,
  certificatesV1alpha1,
  certificatesV1beta1,
  coordinationV1,
  coordinationV1alpha2,
  coordinationV1beta1,
  coreV1,
  discoveryV1,
  eventsV1,
  flowcontrolV1,
  metaV1,
  networkingV1,
  networkingV1beta1,
  nodeV1,
  policyV1,
  rbacV1,
  resourceV1,
  resourceV1alpha3,
  resourceV1beta1,
  resourceV1beta2,
  schedulingV1,
  schedulingV1alpha2,
  storageV1,
  storageV1beta1,
  storagemigrationV1beta1,
  types,
  version,
];
