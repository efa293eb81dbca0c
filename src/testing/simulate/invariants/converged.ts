/** At rest, everything is as its users want it. */
import type { apps, batch, core } from "#api";
import { isEnding, isOver, isReady, nameOf, type World } from "../world.ts";
import type { Broken, Invariant } from "./invariant.ts";

export const converged: Invariant = {
  name: "converged",
  words: "at rest every workload has its Pods, Jobs are complete, Services lead to ready Pods, nothing is terminating",
  begin: ({ world }) => ({
    missing() {
      for (const rule of [terminating, nodes, deployments, replicaSets, statefulSets, jobs, endpoints, pods]) {
        const found = rule(world);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  }),
};

function terminating(world: World): Broken | undefined {
  for (const object of world.all()) {
    if (object.metadata.deletionTimestamp === undefined) continue;
    const { finalizers = [] } = object.metadata;
    const why = finalizers.length > 0 ? ` (finalizers: ${finalizers.join(", ")})` : "";
    return about(object, `is still terminating${why}`);
  }
  return undefined;
}

function nodes(world: World): Broken | undefined {
  const down = world.of("Node").find(({ status }) => !isTrue(status?.conditions, "Ready"));
  return down && about(down, "is not Ready");
}

function deployments(world: World): Broken | undefined {
  for (const each of world.of("Deployment")) {
    const { spec, status } = each;
    const wanted = spec?.replicas ?? 1;
    if (status?.observedGeneration !== each.metadata.generation) return about(each, "was not observed");
    if (spec?.paused !== true && (status?.updatedReplicas ?? 0) !== wanted)
      return about(each, `has ${status?.updatedReplicas ?? 0} updated replicas instead of ${wanted}`);
    const wrong = counts(each, wanted);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function replicaSets(world: World): Broken | undefined {
  for (const each of world.of("ReplicaSet")) {
    const wanted = each.spec?.replicas ?? 1;
    const own = world.podsOf(each).filter((pod) => !isEnding(pod) && !isOver(pod));
    if (own.length !== wanted) return about(each, `has ${own.length} Pods instead of ${wanted}`);
    const wrong = counts(each, wanted);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function statefulSets(world: World): Broken | undefined {
  for (const each of world.of("StatefulSet")) {
    const { metadata, spec, status } = each;
    const wanted = spec?.replicas ?? 1;
    const names = world.podsOf(each).map((pod) => pod.metadata.name ?? "");
    for (let at = 0; at < wanted; at++)
      if (!names.includes(`${metadata.name}-${at}`)) return about(each, `has no Pod ${metadata.name}-${at}`);
    if (names.length !== wanted) return about(each, `has ${names.length} Pods instead of ${wanted}`);
    if (status?.currentRevision !== status?.updateRevision) return about(each, "is not updated");
    const wrong = counts(each, wanted);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** What its status says. */
function counts(workload: apps.Deployment | apps.ReplicaSet | apps.StatefulSet, wanted: number): Broken | undefined {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = workload.status ?? {};
  for (const [words, count] of [
    ["replicas", replicas],
    ["ready replicas", readyReplicas],
    ["available replicas", availableReplicas],
  ] as const)
    if (count !== wanted) return about(workload, `reports ${count} ${words} instead of ${wanted}`);
  return undefined;
}

function jobs(world: World): Broken | undefined {
  const open = world
    .of("Job")
    .find(({ spec, status }: batch.Job) => spec?.suspend !== true && !isTrue(status?.conditions, "Complete"));
  if (open !== undefined) return about(open, "is not complete");
  const old = world.of("Job").find(({ spec }: batch.Job) => spec?.ttlSecondsAfterFinished !== undefined);
  return old && about(old, "is complete, and has a ttlSecondsAfterFinished");
}

/** Endpoints and EndpointSlices have the addresses of the ready Pods that a Service selects, and no others. */
function endpoints(world: World): Broken | undefined {
  for (const service of world.of("Service")) {
    const { selector } = service.spec ?? {};
    if (selector === undefined) continue;
    const { namespace, name } = service.metadata;
    const wanted = world
      .of("Pod")
      .filter((pod) => pod.metadata.namespace === namespace && hasLabels(pod, selector) && isReady(pod) && !isOver(pod))
      .map(({ status }) => status?.podIP ?? "");
    const slices = world
      .of("EndpointSlice")
      .filter(
        ({ metadata }) => metadata.namespace === namespace && metadata.labels?.["kubernetes.io/service-name"] === name,
      ) as readonly { readonly endpoints?: readonly Endpoint[] }[];
    const found = slices.flatMap(({ endpoints = [] }) =>
      endpoints.filter(({ conditions }) => conditions?.ready === true).flatMap(({ addresses }) => addresses),
    );
    if (wanted.sort().join() !== found.sort().join())
      return about(service, `leads to ${found.join(", ") || "nothing"} instead of ${wanted.join(", ") || "nothing"}`);
  }
  return undefined;
}

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: { readonly ready?: boolean };
}

/** Pods that nobody controls, too. */
function pods(world: World): Broken | undefined {
  const stuck = world.of("Pod").find((pod) => !isOver(pod) && !isReady(pod));
  return stuck && about(stuck, "is not ready");
}

function hasLabels({ metadata }: core.Pod, selector: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector).every(([name, value]) => metadata.labels?.[name] === value);
}

function isTrue(
  conditions: readonly { readonly type: string; readonly status: string }[] | undefined,
  type: string,
): boolean {
  return conditions?.some((each) => each.type === type && each.status === "True") === true;
}

function about(object: Parameters<typeof nameOf>[0], says: string): Broken {
  return { says: `${nameOf(object)} ${says}`, about: nameOf(object) };
}
