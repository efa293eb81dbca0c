/**
 * ResourceClaims that Pods request by a template: created, reserved, released and deleted.
 *
 *     Pods, templates, claims    --► pod …   ──► planPod   ══► ResourceClaims, the Pod's status
 *     claims, finished Pods      --► claim … ──► planClaim ══► status, finalizer, deletion
 *
 * A Pod that is not in the cache counts as deleted only if the API server itself says so: the scheduler may see it
 * first.
 */
import { equalJson, isStatusError, type Json, kinds, type resource } from "#api";
import { type Change, type Client, objectKey } from "#client";
import { isEnding, isFinished, type Pod as PodObject } from "../pods/index.ts";
import { defineController, keysFrom } from "../runtime/index.ts";
import { planClaim } from "./plan-claim.ts";
import { planPod } from "./plan-pod.ts";
import { type Claim, claimKeysOf, isDone, isPod, ownerPod, podsOf } from "./pod-claims.ts";

const POD = "pod ";
const CLAIM = "claim ";

export const resourceClaimController = defineController({
  name: "resourceclaim-controller",
  account: "resource-claim-controller",
  reportsAs: "resource_claim",
  // The default of --concurrent-resource-claim-syncs.
  concurrency: 50,
  bind({ cache, client }) {
    const pods = cache(kinds.Pod);
    const claims = cache(kinds.ResourceClaim);
    const templates = cache(kinds.ResourceClaimTemplate);
    const podsWith = pods.index("resourceClaim", claimKeysOf);
    const podsFrom = pods.index("resourceClaimTemplate", ({ metadata, spec }) =>
      (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) =>
        name === undefined ? [] : [`${metadata.namespace}/${name}`],
      ),
    );
    const reservedFor = claims.index("reservedFor", (claim) => podsOf(claim).map(({ uid }) => uid));
    const madeFor = claims.index("madeFor", (claim) => [ownerPod(claim)?.uid ?? []].flat());

    const claimKeys = ({ metadata: { uid = "" } }: PodObject) => [
      ...new Set([...reservedFor(uid), ...madeFor(uid)].map((claim) => CLAIM + objectKey(claim))),
    ];
    const podKeys = (list: readonly PodObject[]) => list.map((pod) => POD + objectKey(pod));

    const validOf = async (claim: Claim, signal: AbortSignal) => {
      const valid: resource.ResourceClaimConsumerReference[] = [];
      for (const each of claim.status?.reservedFor ?? []) {
        const known = pods.get(`${claim.metadata.namespace}/${each.name}`);
        const pod = !isPod(each) || known !== undefined ? known : await livePod(client, claim, each.name, signal);
        if (!isPod(each) || (pod !== undefined && pod.metadata.uid === each.uid && !isDone(pod))) valid.push(each);
      }
      return valid;
    };

    return {
      sources: [
        keysFrom(kinds.Pod, (change) => {
          const { type, object } = change;
          if (!matters(change)) return [];
          if (type === "deleted" || isDone(object)) return claimKeys(object);
          return isEnding(object) ? [] : [POD + objectKey(object)];
        }),
        keysFrom(kinds.ResourceClaim, ({ type, object }) => {
          const { namespace } = object.metadata;
          const owner = pods.get(`${namespace}/${ownerPod(object)?.name ?? ""}`);
          const users = new Set([...podsWith(objectKey(object)), ...(owner === undefined ? [] : [owner])]);
          return [...(type === "deleted" ? [] : [CLAIM + objectKey(object)]), ...podKeys([...users])];
        }),
        keysFrom(kinds.ResourceClaimTemplate, ({ type, object }) =>
          type === "added" ? podKeys(podsFrom(objectKey(object))) : [],
        ),
      ],
      async reconcile(key, _now, signal) {
        if (key.startsWith(CLAIM)) {
          const claim = claims.get(key.slice(CLAIM.length));
          if (claim === undefined) return undefined;
          const owner = pods.get(`${claim.metadata.namespace}/${ownerPod(claim)?.name ?? ""}`);
          return planClaim(claim, await validOf(claim, signal), owner);
        }
        const pod = pods.get(key.slice(POD.length));
        if (pod === undefined || isEnding(pod) || isFinished(pod)) return undefined;
        const { namespace, uid = "" } = pod.metadata;
        return planPod(pod, {
          claim: (name) => claims.get(`${namespace}/${name}`),
          owned: madeFor(uid),
          template: (name) => templates.get(`${namespace}/${name}`),
        });
      },
    };
  },
});

async function livePod(client: Client, { metadata }: Claim, name: string, signal: AbortSignal) {
  try {
    return await client
      .of(kinds.Pod)
      .in(metadata.namespace ?? "")
      .get(name, { signal });
  } catch (error) {
    if (isStatusError(error, "NotFound")) return undefined;
    throw error;
  }
}

/** Changes of Pods that concern claims. Most Pods have none. */
function matters({ type, object, old }: Change<PodObject>): boolean {
  const { resourceClaims = [] } = object.spec ?? {};
  if (resourceClaims.length === 0 && object.status?.extendedResourceClaimStatus === undefined) return false;
  return type !== "updated" || !equalJson(factsOf(object), factsOf(old));
}

function factsOf(pod: PodObject): Json {
  const { spec, status } = pod;
  return [
    pod.metadata.uid ?? "",
    spec?.nodeName ?? "",
    isDone(pod),
    status?.resourceClaimStatuses ?? [],
  ] as unknown as Json;
}
