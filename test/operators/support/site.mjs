/** What the operators of these tests are about: a Site has a page, a ConfigMap of its own, and is taken off a public list before it goes. */
export const group = "example.com";
export const version = "v1";
export const plural = "sites";
export const kind = "Site";
export const finalizer = "example.com/unpublish";

export const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural, singular: "site", kind, listKind: "SiteList" },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            required: ["spec"],
            properties: {
              spec: {
                type: "object",
                required: ["title"],
                properties: { title: { type: "string", minLength: 1 }, theme: { type: "string", default: "light" } },
              },
              status: {
                type: "object",
                properties: { phase: { type: "string" }, observedGeneration: { type: "integer" } },
              },
            },
          },
        },
      },
    ],
  },
};

/** The dependent of a Site, collected with it. */
export const pageOf = ({ metadata, spec }) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: `${metadata.name}-page`,
    namespace: metadata.namespace,
    ownerReferences: [
      {
        apiVersion: `${group}/${version}`,
        kind,
        name: metadata.name,
        uid: metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  data: { title: spec.title, theme: spec.theme },
});

/** What remains of a Site: nobody owns it. */
export const obituaryOf = ({ metadata }) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: `${metadata.name}-unpublished`, namespace: metadata.namespace },
});

export const statusOf = ({ metadata }) => ({ phase: "Published", observedGeneration: metadata.generation });

export const isSettled = ({ metadata, status }) => status?.observedGeneration === metadata.generation;
