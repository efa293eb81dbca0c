/** An object's summary: labels, owners, conditions; containers of a Pod; Pods of a workload or a node. */
import type { core } from "#api";
import { useCollection } from "../api/collection.ts";
import { PODS, placeOf, referredPlace } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { requestsOf } from "../model/node.ts";
import { quantity } from "../model/quantity.ts";
import { Conditions } from "../object/conditions.tsx";
import { Containers } from "../object/containers.tsx";
import { PodFacts } from "../object/pod-facts.tsx";
import { Printed } from "../object/printed.tsx";
import { Sections } from "../object/sections.tsx";
import { Notice } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { UsageCharts } from "../parts/usage-charts.tsx";
import { type ObjectPlace, objectRoute } from "../route.ts";
import { type Autoscaler, AutoscalerPart } from "./autoscaler.tsx";
import { type Claim, ClaimPart } from "./claim.tsx";
import type { Node } from "./nodes.tsx";
import { POD_COLUMNS, type Pod, podRow } from "./pods.tsx";

interface Whole extends KubeObject {
  readonly metadata: KubeObject["metadata"] & {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly name?: string;
      readonly uid?: string;
    }[];
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: { readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> } };
  readonly status?: { readonly conditions?: readonly core.PodCondition[] };
}

/** Kinds whose summary says more than their fields. */
const DRAWN = new Set(["nodes", "horizontalpodautoscalers", "persistentvolumeclaims"]);

export function SummaryTab({ place, object }: { readonly place: ObjectPlace; readonly object: KubeObject }) {
  const whole = object as Whole;
  const { labels = {}, ownerReferences = [], deletionTimestamp, finalizers = [] } = whole.metadata;
  const isPod = place.plural === "pods";
  const chooses = whole.spec?.selector?.matchLabels;
  return (
    <div class="summary">
      <dl class="facts">
        {isPod ? <PodFacts pod={object as Pod} /> : <Printed place={place} version={object.metadata.resourceVersion} />}
        {ownerReferences.length > 0 && (
          <div>
            <dt>Owned by</dt>
            <dd>
              {ownerReferences.map((owner) => {
                const target = referredPlace(owner, place.namespace);
                const words = `${owner.kind}/${owner.name}`;
                return target === undefined ? (
                  <span key={owner.uid}>{words}</span>
                ) : (
                  <a key={owner.uid} href={objectRoute(target)}>
                    {words}
                  </a>
                );
              })}
            </dd>
          </div>
        )}
        <div>
          <dt>Labels</dt>
          <dd class="chips">
            {Object.entries(labels).length === 0 && <span class="dim">none</span>}
            {Object.entries(labels).map(([key, value]) => (
              <code key={key}>
                {key}={value}
              </code>
            ))}
          </dd>
        </div>
        {deletionTimestamp !== undefined && (
          <div>
            <dt>Deleted</dt>
            <dd>
              {deletionTimestamp}
              {finalizers.length > 0 && `, waiting for finalizers ${finalizers.join(", ")}`}
            </dd>
          </div>
        )}
        <div>
          <dt>UID</dt>
          <dd>
            <code>{whole.metadata.uid}</code>
          </dd>
        </div>
      </dl>
      {isPod && (
        <UsageCharts
          namespace={place.namespace}
          keys={[`${place.namespace}/${place.name}`]}
          compared={{ title: "requested", ...requestsOf(object as Pod) }}
        />
      )}
      {place.plural === "nodes" && (
        <UsageCharts namespace="" keys={[place.name]} compared={{ title: "of", ...allocatableOf(object as Node) }} />
      )}
      {place.plural === "horizontalpodautoscalers" && <AutoscalerPart place={place} hpa={object as Autoscaler} />}
      {place.plural === "persistentvolumeclaims" && <ClaimPart place={place} claim={object as Claim} />}
      {isPod && <Containers pod={object as Pod} />}
      <Conditions conditions={whole.status?.conditions ?? []} />
      {chooses !== undefined && (
        <PodsOf
          namespace={place.namespace}
          matches={(pod) => Object.entries(chooses).every(([key, value]) => pod.metadata.labels?.[key] === value)}
        />
      )}
      {place.plural === "nodes" && <PodsOf namespace="" matches={(pod) => pod.spec?.nodeName === place.name} />}
      <Sections
        object={object}
        isSecret={place.plural === "secrets" && place.group === ""}
        isOpen={!isPod && chooses === undefined && !DRAWN.has(place.plural)}
      />
    </div>
  );
}

function allocatableOf({ status }: Node) {
  const { cpu, memory } = status?.allocatable ?? {};
  return { cpu: quantity(cpu), memory: quantity(memory) };
}

function PodsOf({ namespace, matches }: { readonly namespace: string; readonly matches: (pod: Pod) => boolean }) {
  const pods = useCollection<Pod>(PODS, namespace);
  void pods.version.value;
  const found = [...pods.objects.values()].filter(matches).map(podRow);
  const requested = found.map(({ pod }) => requestsOf(pod));
  const sum = (of: (each: (typeof requested)[number]) => number) => requested.reduce((all, each) => all + of(each), 0);
  return (
    <>
      {namespace !== "" && (
        <UsageCharts
          namespace={namespace}
          keys={found.map(({ id }) => id)}
          compared={{ title: "requested", cpu: sum(({ cpu }) => cpu), memory: sum(({ memory }) => memory) }}
        />
      )}
      <h2>
        Pods <span class="count">{found.length}</span>
      </h2>
      <Notice states={[pods.state]} />
      <div class="inset" style={{ height: `${Math.min(300, 42 + 36 * Math.max(2, found.length))}px` }}>
        <Table
          label="Pods"
          rows={found}
          columns={POD_COLUMNS.filter(({ title }) => title !== "Namespace" || namespace === "")}
          idOf={({ id }) => id}
          hrefOf={({ pod }) => objectRoute(placeOf(PODS, pod))}
          empty="It has no Pods."
        />
      </div>
    </>
  );
}
