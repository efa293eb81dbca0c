/** An API server and extension servers behind it, for tests. */
export {
  type AggregatedServer,
  type Answer,
  API_SERVICES,
  aggregatedServer,
  NAME,
} from "./aggregated-server.ts";
export {
  BASE,
  type ExtensionServer,
  extensionServer,
  FLUNDERS,
  flunder,
  GROUP,
  type Mood,
  type Seen,
  VERSION,
} from "./extension-server.ts";
