/** What a Pod shares with others: ResourceClaims that have no devices yet, and its PodGroup. */
import { type core, isStatusError, kinds, optional, type resource } from "#api";
import type { Client } from "#client";
import { claimForExtended, explainClaim } from "#scheduler";
import type { WhyAnswer } from "./answer.ts";
import { whyGroup } from "./why-group.ts";

export async function openDeviceClaims(client: Client, pod: core.Pod): Promise<WhyAnswer[]> {
  const { metadata, spec, status } = pod;
  const entries = spec?.resourceClaims ?? [];
  if (entries.length === 0 && !asksForExtended(pod)) return [];
  const { items: claims } = await client.of(kinds.ResourceClaim).list();
  const { items: slices } = await client.of(kinds.ResourceSlice).list();
  const { items: classes } = await client.of(kinds.DeviceClass).list();
  const objects = { slices, classes, claims, taintRules: await taintRules(client) };
  const extended = status?.extendedResourceClaimStatus === undefined ? claimForExtended(pod, classes) : undefined;
  const answers = extended === undefined ? [] : [explained("its extended resources", extended, objects)];
  return answers.concat(
    entries.flatMap(({ name: entry, resourceClaimName, resourceClaimTemplateName }): WhyAnswer[] => {
      const made = status?.resourceClaimStatuses?.find(({ name }) => name === entry);
      const name = resourceClaimName ?? made?.resourceClaimName;
      const claim = claims.find(
        (each) => each.metadata.namespace === metadata.namespace && each.metadata.name === name,
      );
      if (name === undefined) {
        if (made !== undefined) return [];
        const cause = `no claim was made from the template ${resourceClaimTemplateName} yet`;
        return [
          {
            what: `its claim ${entry}`,
            cause,
            because: [],
            help: [`is there a ResourceClaimTemplate ${resourceClaimTemplateName}?`],
          },
        ];
      }
      const what = `resourceclaim/${name}`;
      if (claim === undefined)
        return [{ what, cause: "it does not exist", because: [], help: [`create the ResourceClaim ${name}`] }];
      if (claim.status?.allocation !== undefined) return [];
      return [explained(what, claim, objects)];
    }),
  );
}

/** None where the server does not serve them. */
async function taintRules(client: Client) {
  try {
    return (await client.of(optional.DeviceTaintRule).list()).items;
  } catch (error) {
    if (isStatusError(error, "NotFound") || isStatusError(error, "Forbidden")) return [];
    throw error;
  }
}

function explained(
  what: string,
  claim: resource.ResourceClaim,
  objects: Parameters<typeof explainClaim>[1],
): WhyAnswer {
  const { cause, because, help } = explainClaim(claim, objects);
  return {
    what,
    cause: cause ?? "it has no devices yet",
    because: because.map((text) => ({ text, evidence: "ResourceSlices" })),
    help,
  };
}

function asksForExtended({ spec }: core.Pod): boolean {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return containers.some(({ resources }) => Object.keys(resources?.requests ?? {}).some((name) => name.includes("/")));
}

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
