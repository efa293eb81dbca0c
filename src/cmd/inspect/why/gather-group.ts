/** What is known of the PodGroup of a Pod. */
import { type core, isStatusError, kinds, optional } from "#api";
import type { Client } from "#client";
import type { WhyAnswer } from "./answer.ts";
import { whyGroup } from "./why-group.ts";

/** Nothing for a Pod without a group, or one that has its node. */
export async function openGroup(
  client: Client,
  { metadata, spec }: core.Pod,
  placed: readonly core.Pod[],
): Promise<readonly WhyAnswer[]> {
  const name = spec?.schedulingGroup?.podGroupName;
  if (name === undefined || (spec?.nodeName ?? "") !== "") return [];
  const namespace = metadata.namespace ?? "";
  const { items } = await client.of(kinds.Pod).in(namespace).list();
  const members = items.filter(
    (pod) =>
      pod.spec?.schedulingGroup?.podGroupName === name && !["Succeeded", "Failed"].includes(pod.status?.phase ?? ""),
  );
  const found = whyGroup({ name, group: await groupNamed(client, namespace, name), members, placed });
  return found === undefined ? [] : [found];
}

async function groupNamed(client: Client, namespace: string, name: string) {
  try {
    return await client.of(optional.PodGroup).in(namespace).get(name);
  } catch (error) {
    if (isStatusError(error, "NotFound")) return undefined;
    throw error;
  }
}
