/** The cluster at a glance: health, requests, rollouts, warnings. */
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { type CollectionState, useCollection } from "../api/collection.ts";
import { EVENTS, NODES, PODS, referredPlace } from "../api/resources.ts";
import { nodeState, usesByNode } from "../model/node.ts";
import type { Tone } from "../model/pod.ts";
import { bytes, cores } from "../model/quantity.ts";
import { usePage } from "../page.ts";
import { Bar } from "../parts/bar.tsx";
import { Head } from "../parts/head.tsx";
import { Age, Notice, State } from "../parts/state.tsx";
import { objectRoute } from "../route.ts";
import { type ClusterEvent, lastSeen } from "./events.tsx";
import type { Node } from "./nodes.tsx";
import { type Pod, podRow } from "./pods.tsx";
import { useWorkloads } from "./workloads.tsx";

const TONES: readonly Tone[] = ["good", "busy", "bad", "quiet"];

export function OverviewView() {
  const page = usePage();
  const namespace = page.namespace.value;
  const nodes = useCollection<Node>(NODES, "");
  const pods = useCollection<Pod>(PODS, namespace);
  const events = useCollection<ClusterEvent>(EVENTS, namespace);
  const workloads = useWorkloads(namespace);
  for (const { version } of [nodes, pods, events]) void version.value;

  const podTones = Array.from(pods.objects.values(), (pod) => podRow(pod).tone);
  const nodeTones = Array.from(nodes.objects.values(), (node) => nodeState(node).tone);
  const workloadTones = workloads.rows.map(({ progress }) => progress.tone);
  const uses = [...usesByNode(nodes.objects.values(), pods.objects.values()).values()];
  const sum = (of: (use: (typeof uses)[number]) => number) => uses.reduce((total, use) => total + of(use), 0);
  const [cpu, cpuOf, memory, memoryOf] = [
    sum((use) => use.cpu),
    sum((use) => use.cpuOf),
    sum((use) => use.memory),
    sum((use) => use.memoryOf),
  ];
  const warnings = [...events.objects.values()].filter(({ type }) => type === "Warning");
  const newest = warnings.sort((a, b) => (lastSeen(a) < lastSeen(b) ? 1 : -1)).slice(0, 8);
  const troubled = workloads.rows
    .filter(({ progress }) => progress.tone === "bad" || progress.tone === "busy")
    .slice(0, 8);

  return (
    <section>
      <Head title="Overview" />
      <Notice states={[nodes.state, pods.state, events.state, ...workloads.states]} />
      <div class="cards">
        <Card title="Nodes" href="#/nodes" tones={nodeTones} words="ready" states={[nodes.state]} />
        <Card title="Pods" href="#/pods" tones={podTones} words="well" states={[pods.state]} />
        <Card title="Workloads" href="#/workloads" tones={workloadTones} words="available" states={workloads.states} />
        <div class="card">
          <h2>Requested</h2>
          <div class="meter">
            <span>CPU</span>
            <Bar value={cpu} of={cpuOf} words={`${cores(cpu)} of ${cores(cpuOf)} cores`} />
          </div>
          <div class="meter">
            <span>Memory</span>
            <Bar value={memory} of={memoryOf} words={`${bytes(memory)} of ${bytes(memoryOf)}`} />
          </div>
        </div>
      </div>
      <div class="columns">
        <Panel title="Rolling out or stuck" href="#/workloads">
          {troubled.length === 0 ? (
            <p class="dim">{known(workloads.states) ?? "All workloads are available."}</p>
          ) : (
            <ul class="list">
              {troubled.map(({ resource, object, progress }) => {
                const { group, version, plural, kind } = resource;
                const { name, namespace: inside = "" } = object.metadata;
                return (
                  <li key={`${kind}/${inside}/${name}`}>
                    <a href={objectRoute({ group, version, plural, namespace: inside, name })}>
                      {kind}/{name}
                    </a>
                    <State tone={progress.tone} words={progress.words} />
                  </li>
                );
              })}
            </ul>
          )}
        </Panel>
        <Panel title="Warnings" href="#/events">
          {newest.length === 0 ? (
            <p class="dim">{known([events.state]) ?? "No warnings."}</p>
          ) : (
            <ul class="list">
              {newest.map((event) => {
                const { involvedObject: about = {}, reason, message, metadata } = event;
                const place = referredPlace(about, about.namespace ?? "");
                const name = `${about.kind}/${about.name}`;
                return (
                  <li key={metadata.uid}>
                    <span class="grow">
                      {place === undefined ? name : <a href={objectRoute(place)}>{name}</a>} <b>{reason}</b>{" "}
                      <span class="dim">{message}</span>
                    </span>
                    <Age since={lastSeen(event)} />
                  </li>
                );
              })}
            </ul>
          )}
        </Panel>
      </div>
    </section>
  );
}

interface CardProps {
  readonly title: string;
  readonly href: string;
  readonly tones: readonly Tone[];
  readonly words: string;
  readonly states: readonly ReadonlySignal<CollectionState>[];
}

/** Why a count is unknown, or undefined: a forbidden or loading collection is not empty. */
function known(states: readonly ReadonlySignal<CollectionState>[]): string | undefined {
  const phases = states.map(({ value }) => value.phase);
  if (phases.includes("forbidden")) return "forbidden";
  if (phases.includes("failed")) return "not available";
  return phases.includes("loading") ? "loading …" : undefined;
}

function Card({ title, href, tones, words, states }: CardProps) {
  const count = (tone: Tone) => tones.filter((each) => each === tone).length;
  const well = count("good") + count("quiet");
  const unknown = known(states);
  return (
    <a class="card" href={href}>
      <h2>{title}</h2>
      <div class="figure">
        <b>{unknown !== undefined && tones.length === 0 ? "–" : tones.length}</b>
        <span class="dim">
          {unknown ?? (tones.length === 0 ? "none" : well === tones.length ? `all ${words}` : `${well} ${words}`)}
        </span>
      </div>
      <div class="share" role="img" aria-label={TONES.map((tone) => `${count(tone)} ${tone}`).join(", ")}>
        {TONES.map((tone) => count(tone) > 0 && <i key={tone} class={tone} style={{ flexGrow: count(tone) }} />)}
      </div>
    </a>
  );
}

function Panel({
  title,
  href,
  children,
}: {
  readonly title: string;
  readonly href: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="panel">
      <h2>
        <a href={href}>{title}</a>
      </h2>
      {children}
    </div>
  );
}
