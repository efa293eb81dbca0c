/** The whole public surface of custom-resources. */
export { type CustomResources, type CustomResourcesOptions, customResources } from "./custom-resources.ts";
