/** Every built-in kind with its behaviour: those of a default server, and those that `--runtime-config` adds. */
import { admissionregistrationKinds } from "./admissionregistration/index.ts";
import { apiextensionsKinds } from "./apiextensions/index.ts";
import { apiregistrationKinds } from "./apiregistration/index.ts";
import { apiserverinternalKinds } from "./apiserverinternal/index.ts";
import { appsKinds } from "./apps/index.ts";
import { authenticationKinds } from "./authentication/index.ts";
import { authorizationKinds } from "./authorization/index.ts";
import { autoscalingKinds } from "./autoscaling/index.ts";
import { batchKinds } from "./batch/index.ts";
import { certificatesKinds } from "./certificates/index.ts";
import { coordinationKinds } from "./coordination/index.ts";
import { coreKinds } from "./core/index.ts";
import { builtInKinds, optionalKindsOf } from "./definition/built-in-kinds.ts";
import { discoveryKinds } from "./discovery/index.ts";
import { eventsKinds } from "./events/index.ts";
import { flowcontrolKinds } from "./flowcontrol/index.ts";
import type { Kind } from "./machinery/kind.ts";
import { networkingKinds } from "./networking/index.ts";
import { nodeKinds } from "./node/index.ts";
import { policyKinds } from "./policy/index.ts";
import { rbacKinds } from "./rbac/index.ts";
import { resourceKinds } from "./resource/index.ts";
import { schedulingKinds } from "./scheduling/index.ts";
import { storageKinds } from "./storage/index.ts";
import { storagemigrationKinds } from "./storagemigration/index.ts";

const defined: readonly Kind[] = [
  ...coreKinds,
  ...apiregistrationKinds,
  ...appsKinds,
  ...eventsKinds,
  ...authenticationKinds,
  ...authorizationKinds,
  ...autoscalingKinds,
  ...batchKinds,
  ...certificatesKinds,
  ...networkingKinds,
  ...policyKinds,
  ...rbacKinds,
  ...storageKinds,
  ...admissionregistrationKinds,
  ...apiextensionsKinds,
  ...schedulingKinds,
  ...coordinationKinds,
  ...nodeKinds,
  ...discoveryKinds,
  ...resourceKinds,
  ...flowcontrolKinds,
  ...apiserverinternalKinds,
  ...storagemigrationKinds,
];

/** What a default server serves. */
export const builtIn: readonly Kind[] = builtInKinds(defined);

/** What a server serves only where it is asked to. */
export const optionalKinds: readonly Kind[] = optionalKindsOf(defined);
