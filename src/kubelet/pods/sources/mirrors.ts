/**
 * Mirror Pods show static Pods in the API. They are read-only: changing them changes nothing.
 *
 * 1. A mirror has its static Pod's digest: one with another digest is replaced, one without a static Pod is deleted.
 * 2. A mirror that somebody deletes is created again while its static Pod exists.
 */
import { type core, isStatusError, kinds } from "#api";
import { isAbort, type Logger } from "#base";
import type { Client } from "#client";
import { CONFIG_HASH, CONFIG_MIRROR } from "./static-pod.ts";

export function isMirror({ metadata }: core.Pod): boolean {
  return metadata.annotations?.[CONFIG_MIRROR] !== undefined;
}

export type MirrorPlan =
  | { readonly type: "create"; readonly pod: core.Pod }
  | { readonly type: "delete"; readonly pod: core.Pod };

/** The mirrors to create and to delete. Pure. */
export function mirrorPlan(
  statics: readonly core.Pod[],
  mirrors: readonly core.Pod[],
  node: Pick<core.Node, "metadata"> | undefined,
): readonly MirrorPlan[] {
  const byName = new Map(statics.map((pod) => [nameOf(pod), pod]));
  const plans: MirrorPlan[] = [];
  const shown = new Set<string>();
  for (const mirror of mirrors) {
    const pod = byName.get(nameOf(mirror));
    const isRight = pod !== undefined && mirror.metadata.annotations?.[CONFIG_MIRROR] === hashOf(pod);
    if (isRight && mirror.metadata.deletionTimestamp === undefined) shown.add(nameOf(mirror));
    else plans.push({ type: "delete", pod: mirror });
  }
  for (const [name, pod] of byName) if (!shown.has(name)) plans.push({ type: "create", pod: mirrorOf(pod, node) });
  return plans;
}

function mirrorOf(pod: core.Pod, node: Pick<core.Node, "metadata"> | undefined): core.Pod {
  const { name = "", namespace = "", labels, annotations } = pod.metadata;
  const owner = node?.metadata.uid;
  return {
    metadata: {
      name,
      namespace,
      ...(labels !== undefined && { labels }),
      annotations: { ...annotations, [CONFIG_MIRROR]: hashOf(pod) },
      ...(owner !== undefined && {
        ownerReferences: [
          { apiVersion: "v1", kind: "Node", name: node?.metadata.name ?? "", uid: owner, controller: true },
        ],
      }),
    },
    ...(pod.spec !== undefined && { spec: pod.spec }),
  };
}

function hashOf({ metadata }: core.Pod): string {
  return metadata.annotations?.[CONFIG_HASH] ?? "";
}

function nameOf({ metadata }: core.Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}

export async function carryOutMirrors(
  client: Client,
  plans: readonly MirrorPlan[],
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (const { type, pod } of plans) {
    const { name = "", namespace = "", uid } = pod.metadata;
    try {
      if (type === "create") await client.of(kinds.Pod).in(namespace).create(pod, { signal });
      else {
        const preconditions = uid === undefined ? {} : { preconditions: { uid } };
        await client
          .of(kinds.Pod)
          .in(namespace)
          .delete(name, { gracePeriodSeconds: 0, ...preconditions, signal });
      }
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      const isSettled = isStatusError(error) && ["NotFound", "AlreadyExists", "Conflict"].includes(error.reason);
      if (!isSettled) log.warn("mirror pod could not be updated", { pod: `${namespace}/${name}`, type, error });
    }
  }
}
