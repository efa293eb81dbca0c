/** Builders of minimal objects, to which a test adds fields. */

export interface Meta {
  readonly [field: string]: unknown;
}

export function configMap(name: string, data: Readonly<Record<string, string>> = {}, metadata: Meta = {}) {
  return { kind: "ConfigMap", apiVersion: "v1", metadata: { ...(name !== "" && { name }), ...metadata }, data };
}

export function namespace(name: string, metadata: Meta = {}) {
  return { kind: "Namespace", apiVersion: "v1", metadata: { name, ...metadata } };
}

export function deployment(name: string, replicas = 1, metadata: Meta = {}) {
  const labels = { app: name };
  return {
    kind: "Deployment",
    apiVersion: "apps/v1",
    metadata: { name, ...metadata },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "registry.example/app:1" }] } },
    },
  };
}
