/** Load rises, and an autoscaler makes more Pods of it. */
import type { FlowRecord } from "#flows";
import { of, type Scenario, step } from "./scenario.ts";

const HPA = "horizontal-pod-autoscaler";
const labels = { app: "spiky" };
/** Requests 100m; uses a tenth of it, and after 40 s three times as much. */
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "spiky" },
  spec: {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels, annotations: { "simulated.k8ts.io/cpu-usage": "0s=10%,40s=300%" } },
      spec: { containers: [{ name: "main", image: "example/app", resources: { requests: { cpu: "100m" } } }] },
    },
  },
};

/** With the readings that the last decision came from: reads have no cause of their own. */
function flow(all: readonly FlowRecord[]): readonly FlowRecord[] {
  const found = of("autoscaling/horizontalpodautoscalers", "default", "spiky")(all);
  const scaling = found.find(
    (each) => each.type === "request" && each.subresource === "scale" && each.actor === HPA && each.verb === "update",
  );
  if (scaling === undefined) return found;
  const isReading = (each: FlowRecord) =>
    each.type === "request" &&
    each.actor === HPA &&
    each.seq < scaling.seq &&
    ((each.resource === "metrics.k8s.io/pods" && each.verb === "list") ||
      (each.subresource === "scale" && each.verb === "get" && each.name === "spiky"));
  const readings = all.filter(isReading).slice(-2);
  const at = found.findIndex(({ seq }) => seq > (readings[0]?.seq ?? 0));
  return [...found.slice(0, at), ...readings, ...found.slice(at)];
}

export const autoscaling: Scenario = {
  id: "autoscaling",
  title: "A metric rises, and a Deployment is scaled out",
  about:
    "Kubelets are asked for usage by the metrics server, which keeps the last two figures of each container. The autoscaler looks every 15 seconds: it reads the scale of its target and the usage of its Pods, computes a number of replicas, and writes the scale. From there on the Deployment grows like any other. `k8ts why hpa/…` shows the computation.",
  nodes: "simulated",
  act: async ({ kubectl }) => {
    await kubectl(["create", "-f", "-"], deployment);
    await kubectl(["autoscale", "deployment", "spiky", "--cpu=50%", "--min=1", "--max=4"]);
    await kubectl(["wait", "--for=jsonpath={.spec.replicas}=4", "deployment/spiky", "--timeout=120s"]);
    await kubectl(["rollout", "status", "deployment/spiky", "--timeout=60s"]);
  },
  flow,
  steps: [
    step("kubectl ──► apiserver", /^POST horizontalpodautoscalers$/, "the user asks for an autoscaler"),
    step("apiserver ══► store", /^spiky @/, "it is persisted"),
    step(`apiserver --► ${HPA}`, /^ADDED spiky @/, "its controller sees it"),
    step(
      `${HPA} ··· ${HPA}`,
      /^scale Deployment spiky from 1 to 4: cpu resource utilization/,
      "it looks again every 15 seconds; this time it decides to scale",
    ),
    step(`${HPA} ──► apiserver`, /^GET deployments\/spiky\/scale$/, "for that it has read the scale of the target"),
    step(`${HPA} ──► apiserver`, /^LIST pods/, "and what its Pods use: the load has risen"),
    step(`${HPA} ──► apiserver`, /^PUT deployments\/spiky\/scale$/, "it writes the scale"),
    step("apiserver ══► store", /^spiky @/, "which is persisted with the Deployment"),
    step("apiserver --► deployment-controller", /^MODIFIED spiky @/, "the Deployment's controller sees it"),
    step("deployment-controller ──► apiserver", /^(PUT|PATCH) replicasets\/spiky-/, "it grows the ReplicaSet"),
    step("replicaset-controller ──► apiserver", /^POST pods/, "whose controller makes the Pods"),
    step("scheduler ──► apiserver", /^POST pods\/spiky-.*binding$/, "the scheduler places them"),
    step("kubelet/* ──► apiserver", /^PATCH pods\/spiky-.*status$/, "and kubelets run them"),
  ],
};
