/** The CustomResourceDefinitions of snapshots. */
export { definitions, installDefinitions } from "./install.ts";
