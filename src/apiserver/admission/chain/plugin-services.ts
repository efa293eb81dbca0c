import type { Authorizer } from "../../authz/authorizer.ts";
import type { Loopback } from "../../loopback/loopback.ts";
import type { Resources } from "../../rest/resources.ts";
import type { StorageContext } from "../../rest/server-context.ts";
import type { AdmissionMetrics } from "./metrics.ts";

/** The parts of the server that plugins are made with. */
export interface PluginServices {
  readonly resources: Resources;
  readonly storage: StorageContext;
  /** For plugins that write. */
  readonly loopback: Loopback;
  readonly authorize: Authorizer;
  /** A controller creates the ServiceAccount `default` in each namespace: Pods wait for it. */
  readonly requireDefaultAccount: boolean;
  /** Of Pods that do not say it themselves: see the plugin. */
  readonly tolerationSeconds?:
    | { readonly notReady?: number | undefined; readonly unreachable?: number | undefined }
    | undefined;
  /** Whether a feature gate is on. A plugin that belongs to a gate does nothing while it is off. */
  featureEnabled(gate: string): boolean;
  /** Absent: nothing is measured. */
  readonly metrics?: AdmissionMetrics | undefined;
}
