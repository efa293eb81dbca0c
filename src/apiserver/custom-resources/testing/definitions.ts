/** Definitions to send, for tests. */

export interface DefinitionOptions {
  readonly group?: string;
  readonly plural?: string;
  readonly kind?: string;
  readonly scope?: "Namespaced" | "Cluster";
  readonly names?: object;
  readonly conversion?: object;
  /** Default: v1, served and stored. */
  readonly versions?: readonly VersionOptions[];
}

export interface VersionOptions {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly schema?: object;
  readonly [more: string]: unknown;
}

export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

export function definition(options: DefinitionOptions = {}) {
  const { group = "example.com", plural = "widgets", kind = "Widget", scope = "Namespaced", conversion } = options;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind, ...options.names },
      versions: (options.versions ?? [{ name: "v1", storage: true }]).map(version),
      ...(conversion !== undefined && { conversion }),
    },
  };
}

function version({ served = true, storage = false, schema = SPEC_AND_STATUS, ...more }: VersionOptions) {
  return { served, storage, schema: { openAPIV3Schema: schema }, ...more };
}

export const SPEC_AND_STATUS = {
  type: "object",
  properties: {
    spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};

export function widget(name: string, spec: object = {}, version = "v1") {
  return { apiVersion: `example.com/${version}`, kind: "Widget", metadata: { name }, spec };
}
