/** Selectors of a webhook or policy: by labels of the object, and of its namespace. */

import { type core, type KubeObject, type LabelMatcher, type Labels, matcherOfSelector, notFound } from "#api";
import { andThen, type Maybe } from "#base";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import type { ClusterView } from "../chain/plugin.ts";
import { isNamespaces, namespaceOf } from "./target.ts";

type Selector = Parameters<typeof matcherOfSelector>[0];

export interface Selectors {
  readonly namespace: LabelMatcher;
  readonly object: LabelMatcher;
}

export function selectorsOf(of: {
  readonly namespaceSelector?: Selector;
  readonly objectSelector?: Selector;
}): Selectors {
  return {
    namespace: matcherOfSelector(of.namespaceSelector ?? {}),
    object: matcherOfSelector(of.objectSelector ?? {}),
  };
}

/** One of the two states of the object has to match. */
export function selectsObject({ object: matcher }: Selectors, object?: KubeObject, old?: KubeObject): boolean {
  if (isEverything(matcher)) return true;
  return [object, old].some((state) => state !== undefined && matcher.matches(state.metadata?.labels));
}

/** Throws NotFound if the namespace does not exist. Cluster-scoped objects other than Namespaces match. */
export function selectsNamespace(
  { namespace: matcher }: Selectors,
  attributes: AdmissionAttributes,
  cluster: ClusterView,
): Maybe<boolean> {
  if (isEverything(matcher)) return true;
  const namespace = namespaceOf(attributes);
  if (namespace === "" && !isNamespaces(attributes.resource)) return true;
  const own = ownLabels(attributes);
  if (own !== undefined) return matcher.matches(own);
  return andThen(namespaceNamed(namespace, cluster), ({ metadata }) => matcher.matches(metadata.labels));
}

/** A Namespace that is being written counts with its new labels. */
function ownLabels({ resource, subresource, operation, object }: AdmissionAttributes): Labels | undefined {
  const isWritten = operation === "CREATE" || operation === "UPDATE";
  return isNamespaces(resource) && subresource === "" && isWritten ? (object?.metadata.labels ?? {}) : undefined;
}

/** From the cache; waits only if the cache does not have the namespace. */
export function namespaceNamed(name: string, cluster: ClusterView): Maybe<core.Namespace> {
  const find = () => cluster.get<core.Namespace>("", "v1", "namespaces", "", name);
  const found = find();
  if (found !== undefined) return found;
  return cluster.fresh().then(() => {
    const late = find();
    if (late === undefined) throw notFound({ group: "", resource: "namespaces" }, name);
    return late;
  });
}

function isEverything({ requirements, nothing }: LabelMatcher): boolean {
  return requirements.length === 0 && !nothing;
}
