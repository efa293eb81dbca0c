/** Services by the Pods that they select: indexed by one label of their selector. */
import type { core } from "#api";
import type { ReadonlyCache } from "#client";

export type ServicesOf = (pod: core.Pod) => readonly core.Service[];

export function servicesByPods(services: ReadonlyCache<core.Service>): ServicesOf {
  const asking = services.index("selector", ({ metadata: { namespace = "" }, spec }) => {
    const [first] = Object.entries(spec?.selector ?? {});
    return first === undefined ? [] : [`${namespace}/${first.join("=")}`];
  });
  return ({ metadata: { namespace = "", labels = {} } }) =>
    Object.entries(labels)
      .flatMap((label) => asking(`${namespace}/${label.join("=")}`))
      .filter(({ spec }) => Object.entries(spec?.selector ?? {}).every(([key, value]) => labels[key] === value));
}
