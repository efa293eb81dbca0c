/** One object: what it is, its YAML, its events, its flow; of a Pod also logs and a terminal. */
import type { ReadonlySignal } from "@preact/signals";
import { useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { core } from "#api";
import { type Collection, useCollection } from "../api/collection.ts";
import { useDiscovered } from "../api/discovery.ts";
import { EVENTS, KNOWN, PODS, type Resource } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { Actions } from "../object/actions.tsx";
import { Conditions } from "../object/conditions.tsx";
import { EditorTab } from "../object/editor.tsx";
import { LogTab } from "../object/log.tsx";
import { PastTab } from "../object/past.tsx";
import { TerminalTab } from "../object/terminal.tsx";
import { Why } from "../object/why.tsx";
import { Age, Notice } from "../parts/state.tsx";
import { type ObjectPlace, objectRoute } from "../route.ts";
import { type ClusterEvent, EventTable } from "./events.tsx";
import { FlowPanel } from "./flows.tsx";
import { SummaryTab } from "./summary.tsx";

interface ObjectRoute {
  readonly page: "object";
  readonly place: ObjectPlace;
  readonly tab: string;
}

export function ObjectView({ route: { place, tab } }: { readonly route: ObjectRoute }) {
  const resource = useMemo(() => resourceOf(place), [place]);
  const discovered = useDiscovered();
  const served = discovered?.resources.find(({ group, plural }) => group === place.group && plural === place.plural);
  const kind = served?.kind ?? resource.kind;
  const collection = useCollection<KubeObject>(resource, place.namespace, { name: place.name });
  void collection.version.value;
  const object = collection.objects.get(`${place.namespace}/${place.name}`);
  const isPod = place.plural === PODS.plural && place.group === "";
  const tabs = ["summary", "why", "yaml", "events", "flow", "past", ...(isPod ? ["logs", "terminal"] : [])];
  const { phase } = collection.state.value;
  return (
    <section class="fill">
      <div class="head object-head">
        <div>
          <p class="crumbs">
            {kind} {place.namespace !== "" && <> in {place.namespace}</>}
          </p>
          <h1>{place.name}</h1>
        </div>
        {object !== undefined && (
          <span class="dim">
            <Age since={object.metadata.creationTimestamp} /> old
          </span>
        )}
      </div>
      {object !== undefined && <Actions key={object.metadata.uid} place={place} object={object} />}
      <nav class="tabs" aria-label="Parts of this object">
        {tabs.map((name) => (
          <a key={name} href={objectRoute(place, name)} aria-current={tab === name ? "page" : undefined}>
            {name === "yaml" ? "YAML" : name.charAt(0).toUpperCase() + name.slice(1)}
          </a>
        ))}
      </nav>
      <Notice states={[collection.state]} />
      {object === undefined && phase === "live" && (
        <p class="notice">
          There is no such object any more. Its <a href={objectRoute(place, "flow")}>flow</a> may tell what happened to
          it.
        </p>
      )}
      {tab === "summary" && object !== undefined && <SummaryTab place={place} object={object} />}
      {tab === "yaml" && <EditorTab place={place} />}
      {tab === "why" && object !== undefined && (
        <div class="summary">
          <Why place={place} version={object.metadata.resourceVersion} />
          <Conditions conditions={(object as core.Pod).status?.conditions ?? []} />
        </div>
      )}
      {tab === "past" && <PastTab place={place} />}
      {tab === "events" && <EventsTab place={place} kind={kind} />}
      {tab === "flow" && <FlowPanel object={place} />}
      {tab === "logs" && object !== undefined && <LogTab pod={object} />}
      {tab === "terminal" && object !== undefined && <TerminalTab pod={object} />}
    </section>
  );
}

/** Memoized for each resource, so that its collection stays the same. */
function resourceOf({ group, version, plural, namespace }: ObjectPlace): Resource {
  const known = KNOWN.find((each) => each.group === group && each.plural === plural);
  return known ?? { group, version, plural, kind: "", namespaced: namespace !== "" };
}

function EventsTab({ place, kind }: { readonly place: ObjectPlace; readonly kind: string }) {
  const events = useCollection<ClusterEvent>(EVENTS, place.namespace);
  const found = useEventsAbout(events, place, kind);
  return (
    <>
      <Notice states={[events.state]} />
      <EventTable
        events={found.value}
        empty={events.state.value.phase === "loading" ? "Loading …" : "There are no events about this object."}
      />
    </>
  );
}

function useEventsAbout(
  events: Collection<ClusterEvent>,
  { name, namespace }: ObjectPlace,
  kind: string,
): ReadonlySignal<ClusterEvent[]> {
  return useComputed(() => {
    void events.version.value;
    return [...events.objects.values()].filter(
      ({ involvedObject: about }) =>
        about?.name === name && (about.namespace ?? "") === namespace && about.kind === kind,
    );
  });
}
