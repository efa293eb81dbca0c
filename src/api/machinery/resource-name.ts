/** Resources by their names alone: enough to read and write their objects, without their rules. */
import type { KubeObject } from "./schema/object.ts";

declare const objectType: unique symbol;

export interface ResourceName<T extends KubeObject = KubeObject> {
  /** As objects write it: `v1`, `example.com/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Exists only for the type checker: the type of the objects. */
  readonly [objectType]?: T;
}

/** The names of a built-in kind. Owner references are compared by `group` and `kind`. */
export interface KindName<T extends KubeObject = KubeObject> extends ResourceName<T> {
  readonly group: string;
  readonly version: string;
}

export function namespaced<T extends KubeObject>(apiVersion: string, kind: string, plural: string): KindName<T> {
  return { ...groupVersion(apiVersion), apiVersion, kind, plural, namespaced: true };
}

export function clusterWide<T extends KubeObject>(apiVersion: string, kind: string, plural: string): KindName<T> {
  return { ...groupVersion(apiVersion), apiVersion, kind, plural, namespaced: false };
}

function groupVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf("/");
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}
