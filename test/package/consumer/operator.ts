/** A sample operator: for each Widget it keeps a Deployment of its size, and reports how many replicas are ready. */
import { type apps, type KubeObject, kinds, namespaced } from "k8ts/api";
import { changesOf, defineController, ownedBy, ownersOf } from "k8ts/controllers";

export interface Widget extends KubeObject {
  readonly spec: { readonly size: number };
  readonly status?: { readonly readyReplicas?: number };
}

export const Widget = namespaced<Widget>("example.com/v1", "Widget", "widgets");

export const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", required: ["size"], properties: { size: { type: "integer", minimum: 0 } } },
              status: { type: "object", properties: { readyReplicas: { type: "integer" } } },
            },
          },
        },
      },
    ],
  },
} as const;

export const widgets = defineController({
  name: "widget-controller",
  bind: ({ cache }) => {
    const all = cache(Widget);
    const deployments = cache(kinds.Deployment);
    return {
      sources: [changesOf(Widget), ownersOf(kinds.Deployment, { group: "example.com", kind: "Widget" })],
      reconcile(key) {
        const widget = all.get(key);
        if (widget === undefined || widget.metadata.deletionTimestamp !== undefined) return undefined;
        const wanted = deploymentFor(widget);
        const actual = deployments.get(key);
        if (actual === undefined) return { steps: [[{ verb: "create", resource: kinds.Deployment, object: wanted }]] };
        if (actual.spec?.replicas !== widget.spec.size)
          return {
            steps: [
              [
                {
                  verb: "patch",
                  resource: kinds.Deployment,
                  object: actual,
                  type: "merge",
                  patch: { spec: { replicas: widget.spec.size } },
                },
              ],
            ],
          };
        const readyReplicas = actual.status?.readyReplicas ?? 0;
        if (readyReplicas === widget.status?.readyReplicas) return undefined;
        const object = { ...widget, status: { readyReplicas } };
        return { steps: [[{ verb: "updateStatus", resource: Widget, object }]] };
      },
    };
  },
});

function deploymentFor(widget: Widget): apps.Deployment {
  const { name = "", namespace = "" } = widget.metadata;
  const labels = { widget: name };
  return {
    metadata: { name, namespace, ownerReferences: [ownedBy(widget, Widget)] },
    spec: {
      replicas: widget.spec.size,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "app", image: "widget:1" }] } },
    },
  };
}
