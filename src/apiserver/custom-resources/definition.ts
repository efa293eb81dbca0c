/** What the server reads in a CustomResourceDefinition. */
import type { apiextensions, KubeObject } from "#api";
import { STORE_PREFIX } from "../rest/resource.ts";

export type Definition = apiextensions.CustomResourceDefinition;
export type Version = apiextensions.CustomResourceDefinitionVersion;

export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";
export const GROUP = "apiextensions.k8s.io";
export const PLURAL = "customresourcedefinitions";
export const DEFINITIONS_PREFIX = `${STORE_PREFIX}${GROUP}/${PLURAL}/`;

/** Resources that are part of the server and are stored where a definition of the same name would store its own. */
const BUILT_IN: ReadonlySet<string> = new Set([`${GROUP}/${PLURAL}`, "apiregistration.k8s.io/apiservices"]);

export function asDefinition(object: KubeObject): Definition {
  return object as unknown as Definition;
}

export function nameOf({ metadata }: Definition): string {
  return metadata.name ?? "";
}

export function storageVersionOf({ spec }: Definition): string | undefined {
  return spec.versions.find(({ storage }) => storage)?.name;
}

export function apiVersionIn({ spec }: Definition, version: string): string {
  return `${spec.group}/${version}`;
}

/** Of its instances, by the name that it has been given. */
export function instancesPrefix({ spec, status }: Definition): string {
  return `${STORE_PREFIX}${spec.group}/${status?.acceptedNames?.plural ?? spec.names.plural}/`;
}

export function overlapsBuiltIn({ spec }: Definition): boolean {
  return BUILT_IN.has(`${spec.group}/${spec.names.plural}`);
}

/** Deleted, with its instances still to be cleared away. */
export function isTerminating({ metadata }: Definition): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(CLEANUP_FINALIZER);
}
