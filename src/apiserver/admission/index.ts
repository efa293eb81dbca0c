/** The whole public surface of admission. */
export { admissionChain } from "./chain.ts";
export { clusterView } from "./cluster-view.ts";
export { AdmissionConfigError, parseAdmissionConfiguration } from "./configuration.ts";
export { type AdmissionPlugin, type Admit, type ClusterView, type Rule, refused, rule } from "./plugin.ts";
export { allPlugins, type PluginEntry, type PluginServices } from "./plugins.ts";
export { type AdmissionOptions, selectPlugins } from "./select.ts";
