/**
 * Reads pods, and remembers what those of one template have in common.
 *
 * 1. What is remembered is bounded: when it is full it is forgotten, and pods that are read afterwards share among themselves.
 */
import type { core } from "#api";
import { objectKey } from "#client";
import type { LabelClass, NodeAsk, PodInfo, PodTerms, SpreadConstraint } from "../framework/index.ts";
import { askKey, askOf } from "./pod-asks.ts";
import { NO_TERMS, spreadOf, termsOf } from "./pod-terms.ts";
import type { ResourceNames } from "./resource-names.ts";

const REMEMBERED = 20_000;
const NO_SPREAD: readonly SpreadConstraint[] = [];
const NO_CLAIMS: readonly string[] = [];

interface Wishes {
  readonly terms: PodTerms;
  readonly spread: readonly SpreadConstraint[];
}

interface SeenSpec {
  readonly spec: core.PodSpec;
  readonly ask: NodeAsk;
}

const NO_WISHES: Wishes = { terms: NO_TERMS, spread: NO_SPREAD };

export class PodInfos {
  readonly #names: ResourceNames;
  readonly #asks = new Map<string, NodeAsk>();
  /** By a spec's containers: later states of a pod share the parts of it that have not changed. */
  readonly #seen = new WeakMap<object, SeenSpec>();
  readonly #labels = new Map<string, LabelClass>();
  readonly #wishes = new Map<string, Wishes>();

  constructor(names: ResourceNames) {
    this.#names = names;
  }

  of(pod: core.Pod): PodInfo {
    const { metadata, spec } = pod;
    const { uid = "", name = "", namespace = "", labels, deletionTimestamp } = metadata;
    const ask = this.#askOf(pod);
    const nodeName = spec?.nodeName ?? "";
    const labelKey = labels === undefined || isEmpty(labels) ? namespace : JSON.stringify([namespace, labels]);
    return {
      pod,
      uid,
      key: objectKey(pod),
      namespace,
      name,
      priority: ask.priority,
      terminating: deletionTimestamp !== undefined,
      ask: nodeName === "" ? ask : { ...ask, nodeName },
      labels: shared(this.#labels, labelKey, () => ({ namespace, labels: labels ?? {} })),
      ...this.#wishesOf(pod, labelKey),
      claims: claimsOf(pod),
    };
  }

  #askOf(pod: core.Pod): NodeAsk {
    const { spec, status } = pod;
    // What was given may be another than what is asked for.
    const isPlain = status?.containerStatuses === undefined && status?.resources === undefined;
    const known = spec !== undefined && isPlain ? this.#seen.get(spec.containers) : undefined;
    if (known !== undefined && spec !== undefined && asksTheSame(known.spec, spec)) return known.ask;
    const ask = shared(this.#asks, askKey(pod), () => askOf(pod, this.#names));
    if (spec !== undefined && isPlain) this.#seen.set(spec.containers, { spec, ask });
    return ask;
  }

  #wishesOf(pod: core.Pod, labelKey: string): Wishes {
    const { affinity, topologySpreadConstraints } = pod.spec ?? {};
    const { podAffinity, podAntiAffinity } = affinity ?? {};
    if (podAffinity === undefined && podAntiAffinity === undefined && topologySpreadConstraints === undefined) {
      return NO_WISHES;
    }
    const key = labelKey + JSON.stringify([podAffinity, podAntiAffinity, topologySpreadConstraints]);
    return shared(this.#wishes, key, () => ({ terms: termsOf(pod), spread: spreadOf(pod) }));
  }
}

/** All that `askKey` reads of a spec, besides its containers. */
function asksTheSame(a: core.PodSpec, b: core.PodSpec): boolean {
  return (
    a === b ||
    (a.priority === b.priority &&
      a.initContainers === b.initContainers &&
      a.resources === b.resources &&
      a.overhead === b.overhead &&
      a.nodeSelector === b.nodeSelector &&
      a.affinity === b.affinity &&
      a.tolerations === b.tolerations)
  );
}

function isEmpty(labels: object): boolean {
  for (const _ in labels) return false;
  return true;
}

function shared<V>(known: Map<string, V>, key: string, make: () => V): V {
  let value = known.get(key);
  if (value === undefined) {
    value = make();
    if (known.size >= REMEMBERED) known.clear();
    known.set(key, value);
  }
  return value;
}

/** A generic ephemeral volume's claim is named after the pod and the volume. */
function claimsOf({ metadata, spec }: core.Pod): readonly string[] {
  const { namespace = "", name = "" } = metadata;
  const claims = (spec?.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim !== undefined) return [`${namespace}/${volume.persistentVolumeClaim.claimName}`];
    return volume.ephemeral === undefined ? [] : [`${namespace}/${name}-${volume.name}`];
  });
  return claims.length === 0 ? NO_CLAIMS : claims;
}
