/** The whole public surface of admission. */

export { allPlugins, type PluginEntry } from "./all-plugins.ts";
export { admissionChain } from "./chain/chain.ts";
export { clusterView } from "./chain/cluster-view.ts";
export { AdmissionConfigError, parseAdmissionConfiguration } from "./chain/configuration.ts";
export { type AdmissionMetrics, admissionMetrics } from "./chain/metrics.ts";
export { type AdmissionPlugin, type Admit, type ClusterView, type Rule, refused, rule } from "./chain/plugin.ts";
export type { PluginServices } from "./chain/plugin-services.ts";
export { type AdmissionOptions, selectPlugins } from "./select.ts";
