/** An autoscaler: metric and target, replicas over time, and what `k8ts why` says of it. */
import type { autoscaling } from "#api";
import { useFigures } from "../api/autoscalers.ts";
import { useCollection } from "../api/collection.ts";
import { EVENTS, referredPlace } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { figureText, metricsOf, pastSizes } from "../model/autoscaler.ts";
import { Why } from "../object/why.tsx";
import { usePage } from "../page.ts";
import { Chart } from "../parts/chart.tsx";
import { type ObjectPlace, objectRoute } from "../route.ts";
import type { ClusterEvent } from "./events.tsx";

export type Autoscaler = autoscaling.HorizontalPodAutoscaler & KubeObject;

export function AutoscalerPart({ place, hpa }: { readonly place: ObjectPlace; readonly hpa: Autoscaler }) {
  const page = usePage();
  const figures = useFigures(hpa.metadata.uid, hpa, page);
  const events = useCollection<ClusterEvent>(EVENTS, place.namespace);
  void events.version.value;
  const about = [...events.objects.values()].filter(({ involvedObject }) => involvedObject?.uid === hpa.metadata.uid);
  const past = pastSizes(about).filter(({ atMs }) => atMs < (figures.replicas[0]?.atMs ?? 0));
  const { scaleTargetRef: target, minReplicas = 1, maxReplicas } = hpa.spec;
  const targetPlace = referredPlace(target, place.namespace);
  const name = `${target.kind}/${target.name}`;
  return (
    <>
      <p class="dim">
        Scales {targetPlace === undefined ? name : <a href={objectRoute(targetPlace)}>{name}</a>} between {minReplicas}{" "}
        and {maxReplicas} replicas.
      </p>
      <div class="charts">
        {metricsOf(hpa).map(({ title, unit, target: level }) => (
          <Chart
            key={title}
            title={title}
            points={figures.metrics.get(title) ?? []}
            words={(value) => figureText(value, unit)}
            level={{ value: level, title: "target" }}
            empty="Its controller has no figure yet."
          />
        ))}
        <Chart
          title="Replicas"
          points={[...past, ...figures.replicas]}
          words={(value) => String(Math.round(value))}
          level={{ value: maxReplicas, title: "at most" }}
          steps
        />
      </div>
      <Why place={place} version={hpa.metadata.resourceVersion} />
    </>
  );
}
