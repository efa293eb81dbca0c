/** Objects that tests of clients apply. */

export const configMap = (
  name: string,
  data: Readonly<Record<string, string>>,
  labels?: Readonly<Record<string, string>>,
) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...(labels && { labels }) }, data });

export const deployment = (name: string, image: string, spec: { readonly replicas?: number } = {}) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, labels: { app: name } },
  spec: {
    ...spec,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "web", image, ports: [{ containerPort: 80 }] }] },
    },
  },
});
