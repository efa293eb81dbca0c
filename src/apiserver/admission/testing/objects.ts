/** Minimal objects for tests of plugins. */
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
