/**
 * Computes PodInfos, and shares the parts that pods of one template have in common.
 *
 * 1. The shared parts are bounded: when a map is full it is cleared, and later pods share among themselves.
 */
import type { core } from "#api";
import { MemoMap } from "#base";
import { objectKey } from "#client";
import type { LabelClass, NodeAsk, PodInfo, PodTerms, SpreadConstraint } from "../framework/index.ts";
import { askKey, askOf } from "./pod-asks.ts";
import { NO_TERMS, spreadOf, termsOf } from "./pod-terms.ts";
import type { ResourceNames } from "./resource-names.ts";

const MAX_SHARED = 20_000;
const NO_SPREAD: readonly SpreadConstraint[] = [];
const NO_CLAIMS: readonly string[] = [];

interface Constraints {
  readonly terms: PodTerms;
  readonly spread: readonly SpreadConstraint[];
}

const NO_CONSTRAINTS: Constraints = { terms: NO_TERMS, spread: NO_SPREAD };

export class PodInfos {
  readonly #names: ResourceNames;
  readonly #asks = new MemoMap<string, NodeAsk>(MAX_SHARED);
  /** Asks with node affinity. */
  readonly #asksWithAffinity = new MemoMap<string, NodeAsk>(MAX_SHARED);
  readonly #labels = new MemoMap<string, LabelClass>(MAX_SHARED);
  readonly #constraints = new MemoMap<string, Constraints>(MAX_SHARED);

  constructor(names: ResourceNames) {
    this.#names = names;
  }

  /** `before`: an earlier state of the pod, whose unchanged parts are reused. */
  of(pod: core.Pod, before?: PodInfo): PodInfo {
    const { metadata, spec } = pod;
    const { uid = "", name = "", namespace = "", labels, deletionTimestamp } = metadata;
    const ask = this.#askOf(pod, spec?.nodeName ?? "", before);
    const labelKey = labels === undefined || isEmpty(labels) ? namespace : JSON.stringify([namespace, labels]);
    return {
      pod,
      uid,
      key: objectKey(pod),
      namespace,
      name,
      priority: ask.priority,
      terminating: deletionTimestamp !== undefined,
      ask,
      labels: this.#labels.getOrMake(labelKey, () => ({ namespace, labels: labels ?? {} })),
      ...this.#constraintsOf(pod, labelKey),
      claims: claimsOf(pod),
    };
  }

  #askOf(pod: core.Pod, nodeName: string, before: PodInfo | undefined): NodeAsk {
    if (before?.ask.nodeName === nodeName && asksTheSame(before.pod, pod)) return before.ask;
    const isNew = before === undefined || before.ask.nodeName !== "" || !asksTheSame(before.pod, pod);
    const ask = isNew ? this.#read(pod) : before.ask;
    return nodeName === "" ? ask : { ...ask, nodeName };
  }

  #read(pod: core.Pod): NodeAsk {
    const key = askKey(pod);
    const plain = this.#asks.getOrMake(key, () => askOf(pod, this.#names));
    const { nodeAffinity } = pod.spec?.affinity ?? {};
    if (nodeAffinity === undefined) return plain;
    return this.#asksWithAffinity.getOrMake(key + JSON.stringify(nodeAffinity), () => ({ ...plain, nodeAffinity }));
  }

  #constraintsOf(pod: core.Pod, labelKey: string): Constraints {
    const { affinity, topologySpreadConstraints } = pod.spec ?? {};
    const { podAffinity, podAntiAffinity } = affinity ?? {};
    if (podAffinity === undefined && podAntiAffinity === undefined && topologySpreadConstraints === undefined) {
      return NO_CONSTRAINTS;
    }
    const key = labelKey + JSON.stringify([podAffinity, podAntiAffinity, topologySpreadConstraints]);
    return this.#constraints.getOrMake(key, () => ({ terms: termsOf(pod), spread: spreadOf(pod) }));
  }
}

/** Compares by identity everything that an ask depends on: later states of a pod share unchanged parts of its spec. */
function asksTheSame(before: core.Pod, pod: core.Pod): boolean {
  const [a, b] = [before.spec, pod.spec];
  if (a === undefined || b === undefined || !hasNoAllocation(before) || !hasNoAllocation(pod)) return false;
  return (
    a === b ||
    (a.containers === b.containers &&
      a.priority === b.priority &&
      a.initContainers === b.initContainers &&
      a.resources === b.resources &&
      a.overhead === b.overhead &&
      a.nodeSelector === b.nodeSelector &&
      a.affinity === b.affinity &&
      a.tolerations === b.tolerations)
  );
}

/** The status has no allocated resources, which may differ from the requests in the spec. */
export function hasNoAllocation({ status }: core.Pod): boolean {
  return (
    status?.containerStatuses === undefined &&
    status?.initContainerStatuses === undefined &&
    status?.resources === undefined
  );
}

function isEmpty(labels: object): boolean {
  for (const _ in labels) return false;
  return true;
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
