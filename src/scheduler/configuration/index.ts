/** The scheduler's configuration file. */
export { configz } from "./configz.ts";
export { DEFAULT_PLUGINS, PLUGIN_POINTS } from "./default-plugins.ts";
export {
  type ClientConnectionSettings,
  defaultConfiguration,
  type LeaderElectionSettings,
  type ReadConfiguration,
  type ReadOptions,
  readConfiguration,
  readNothing,
} from "./read-configuration.ts";
