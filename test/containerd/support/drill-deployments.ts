/** What runs on the workers during drills. */
import type { apps } from "../../../src/api/index.ts";

const IMAGE = "localhost/busybox:1";

/** One Pod on each worker, which answers on port 8080 with its name. */
export function spreadDeployment(): apps.Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: {
          terminationGracePeriodSeconds: 0,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: "kubernetes.io/hostname",
              whenUnsatisfiable: "DoNotSchedule",
              labelSelector: { matchLabels: { app: "web" } },
            },
          ],
          containers: [
            { name: "main", image: IMAGE, command: ["sh", "-c", "while true; do hostname | nc -l -p 8080; done"] },
          ],
        },
      },
    },
  };
}

/** Prefers the second worker, and leaves a node 2 s after it is unreachable. */
export function movingDeployment(): apps.Deployment {
  const soon = (key: string) => ({
    key,
    operator: "Exists" as const,
    effect: "NoExecute" as const,
    tolerationSeconds: 2,
  });
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "mover" },
    spec: {
      selector: { matchLabels: { app: "mover" } },
      template: {
        metadata: { labels: { app: "mover" } },
        spec: {
          terminationGracePeriodSeconds: 0,
          tolerations: [soon("node.kubernetes.io/unreachable"), soon("node.kubernetes.io/not-ready")],
          affinity: {
            nodeAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                {
                  weight: 100,
                  preference: {
                    matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["worker-2"] }],
                  },
                },
              ],
            },
          },
          containers: [{ name: "main", image: IMAGE, command: ["sleep", "100000"] }],
        },
      },
    },
  };
}
