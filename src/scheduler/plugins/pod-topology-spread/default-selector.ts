/** The selector of default constraints: the pods of the pod's Services and of its controller. */
import {
  type core,
  equalJson,
  everything,
  type Json,
  type KubeObject,
  kinds,
  type LabelMatcher,
  type LabelRequirement,
  matcherOf,
} from "#api";
import type { Informer, Informers } from "#client";
import type { LabelClass, PodInfo, PodSelector } from "../../framework/index.ts";
import { matcher, podSelector } from "../../snapshot/index.ts";

/** Undefined if the pod has neither. */
export type DefaultSelector = (pod: PodInfo) => PodSelector | undefined;

export function defaultSelector(informers: Informers): DefaultSelector {
  const services = informers.of(kinds.Service);
  const controllers = informers.of(kinds.ReplicationController);
  const replicaSets = informers.of(kinds.ReplicaSet);
  const statefulSets = informers.of(kinds.StatefulSet);
  let known = new WeakMap<LabelClass, Map<string, PodSelector | undefined>>();
  const forget = () => {
    known = new WeakMap();
  };
  for (const each of [services, controllers, replicaSets, statefulSets]) {
    (each as unknown as Informer<Selecting>).onChange(({ type, object, old }) => {
      if (type !== "updated" || !equalJson(selectorOf(object), selectorOf(old))) forget();
    });
  }
  const ofOwner = (key: string, owner: core.Pod["metadata"]["ownerReferences"]) => {
    const controller = owner?.find((each) => each.controller === true);
    switch (`${controller?.apiVersion} ${controller?.kind}`) {
      case "v1 ReplicationController":
        return exact(controllers.cache.get(key)?.spec?.selector);
      case "apps/v1 ReplicaSet":
        return matcher(replicaSets.cache.get(key)?.spec?.selector).requirements;
      case "apps/v1 StatefulSet":
        return matcher(statefulSets.cache.get(key)?.spec?.selector).requirements;
      default:
        return [];
    }
  };
  const work = ({ pod, namespace, labels }: PodInfo, ownerKey: string): PodSelector | undefined => {
    const mine = services.cache
      .inNamespace(namespace)
      .map(({ spec }) => exact(spec?.selector))
      .filter((wanted) => wanted.every(({ key, values }) => labels.labels[key] === values[0]));
    const all = [...mine.flat(), ...ofOwner(ownerKey, pod.metadata.ownerReferences)];
    return all.length === 0 ? undefined : podSelector([namespace], once(all));
  };
  return (pod) => {
    const { namespace, labels } = pod;
    const owner = pod.pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
    const ownerKey = owner === undefined ? "" : `${namespace}/${owner.name}`;
    const found = known.get(labels) ?? new Map<string, PodSelector | undefined>();
    known.set(labels, found);
    const key = `${owner?.kind} ${ownerKey}`;
    if (!found.has(key)) found.set(key, work(pod, ownerKey));
    return found.get(key);
  };
}

type Selecting = KubeObject & { readonly spec?: { readonly selector?: Json } };

function selectorOf(object: Selecting | undefined): Json {
  return object?.spec?.selector ?? null;
}

function exact(selector: Readonly<Record<string, string>> | undefined): readonly LabelRequirement[] {
  return Object.entries(selector ?? {}).map(([key, value]) => ({ key, operator: "=", values: [value] }));
}

/** Without duplicate requirements. */
function once(requirements: readonly LabelRequirement[]): LabelMatcher {
  const distinct = new Map(requirements.map((each) => [JSON.stringify(each), each]));
  return distinct.size === 0 ? everything : matcherOf([...distinct.values()]);
}
