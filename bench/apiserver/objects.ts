/** What the benchmarks write: objects like those of real clusters, with `{i}` where each differs. */

export const configMap = JSON.stringify({
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: { name: "config-{i}", labels: { app: "bench" } },
  data: { "settings.json": "x".repeat(600), mode: "{i}" },
});

const env = [
  { name: "MODE", value: "production" },
  { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
];
const resources = { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "128Mi" } };

export const pod = JSON.stringify({
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "pod-{i}", labels: { app: "bench", tier: "web" }, annotations: { "bench/number": "{i}" } },
  spec: {
    containers: [
      {
        name: "web",
        image: "registry.local/web:1.2.3",
        ports: [{ name: "http", containerPort: 8080 }],
        env,
        resources,
        readinessProbe: { httpGet: { path: "/ready", port: "http" }, periodSeconds: 5 },
        volumeMounts: [{ name: "cache", mountPath: "/cache" }],
      },
    ],
    volumes: [{ name: "cache", emptyDir: {} }],
    tolerations: [
      { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
    ],
  },
});
