/** Minimal objects and kinds for tests of plugins. */
import { type Kind, typeSchema } from "#api";

interface Meta {
  readonly [field: string]: unknown;
}

export const namespaceObject = (name = "a", metadata: Meta = {}) => ({
  kind: "Namespace",
  apiVersion: "v1",
  metadata: { name, ...metadata },
});

export const podObject = (spec: object = {}, metadata: Meta = {}) => ({
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "p", namespace: "a", ...metadata },
  spec: { containers: [{ name: "c", image: "x" }], ...spec },
});

export const claimObject = (spec: object = {}, more: object = {}) => ({
  kind: "PersistentVolumeClaim",
  apiVersion: "v1",
  metadata: { name: "claim", namespace: "a" },
  spec,
  ...more,
});

/** A kind without rules, for a resource that is not served by default. */
export const plainKind = (
  [group, version]: readonly [group: string, version: string],
  kind: string,
  scope: Kind["scope"] = "Namespaced",
): Kind => {
  const singular = kind.toLowerCase();
  const schema = typeSchema("io.k8s.api.core.v1.ConfigMap");
  return { group, version, kind, scope, names: { plural: `${singular}s`, singular }, schema, verbs: [], served: [] };
};
