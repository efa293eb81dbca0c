/**
 * The claims that a Pod needs.
 *
 *     an entry with a template, no claim     create one from the template, owned by the Pod
 *     a claim that is not in the status      add it to the status
 *     placed without the scheduler           reserve allocated claims for the Pod
 *
 * 1. The API server generates a claim's name: the run that finds the claim records it, possibly after a restart.
 */
import { type core, type JsonObject, type KubeObject, kinds, type resource } from "#api";
import type { RecordedEvent } from "#client";
import type { Pod } from "../pods/index.ts";
import { ownedBy, type Plan, type Write } from "../runtime/index.ts";
import { type Claim, claimNameOf, isFor, POD_CLAIM } from "./pod-claims.ts";

export interface PodFacts {
  /** Claims of the Pod's namespace. */
  claim(name: string): Claim | undefined;
  /** Claims that the Pod owns. */
  readonly owned: readonly Claim[];
  template(name: string): resource.ResourceClaimTemplate | undefined;
}

const POD = { apiVersion: "v1", kind: "Pod" };
/** The longest prefix of a generated name. */
const MAX_BASE = 57;
const MAX_RESERVED = 256;

export function planPod(pod: Pod, facts: PodFacts): Plan {
  const creates: Write[] = [];
  const names: JsonObject[] = [];
  const events: RecordedEvent[] = [];
  for (const entry of pod.spec?.resourceClaims ?? []) {
    if (entry.resourceClaimTemplateName === undefined || isSettled(pod, entry, facts)) continue;
    const found = facts.owned.find(({ metadata }) => metadata.annotations?.[POD_CLAIM] === entry.name);
    const template = facts.template(entry.resourceClaimTemplateName);
    if (found !== undefined) names.push({ name: entry.name, resourceClaimName: found.metadata.name ?? "" });
    else if (template !== undefined)
      creates.push({ verb: "create", resource: kinds.ResourceClaim, object: newClaim(pod, entry.name, template) });
    else events.push(failure(pod, entry.name, noTemplate(entry.resourceClaimTemplateName)));
  }
  const status: Write = {
    verb: "patch",
    resource: kinds.Pod,
    object: pod,
    subresource: "status",
    patch: { metadata: { uid: pod.metadata.uid ?? "" }, status: { resourceClaimStatuses: names } },
  };
  return {
    steps: [[...creates, ...(names.length > 0 ? [status] : []), ...reservations(pod, facts)]],
    events,
    eventFor: ({ verb, object }, outcome) => {
      if (outcome.ok || verb !== "create") return undefined;
      const why = outcome.error instanceof Error ? outcome.error.message : String(outcome.error);
      return failure(pod, object.metadata.annotations?.[POD_CLAIM] ?? "", `create ResourceClaim : ${why}`);
    },
  };
}

/** Whether the status contains the claim. */
function isSettled(pod: Pod, entry: core.PodResourceClaim, { claim }: PodFacts): boolean {
  const recorded = claimNameOf(pod, entry);
  if (recorded.kind !== "named") return recorded.kind === "none";
  const found = claim(recorded.name);
  return found !== undefined && isFor(pod, found);
}

/** The scheduler reserves claims of the Pods that it places. */
function reservations(pod: Pod, { claim }: PodFacts): readonly Write[] {
  if ((pod.spec?.nodeName ?? "") === "") return [];
  return (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
    const recorded = claimNameOf(pod, entry);
    const found = recorded.kind === "named" ? claim(recorded.name) : undefined;
    if (found === undefined || (recorded.kind === "named" && recorded.made && !isFor(pod, found))) return [];
    const { name = "", uid = "" } = pod.metadata;
    const { allocation, reservedFor = [] } = found.status ?? {};
    if (allocation === undefined || reservedFor.length >= MAX_RESERVED) return [];
    if (reservedFor.some((each) => each.uid === uid)) return [];
    const status = { ...found.status, reservedFor: [...reservedFor, { resource: "pods", name, uid }] };
    return [{ verb: "updateStatus", resource: kinds.ResourceClaim, object: { ...found, status } } as const];
  });
}

function newClaim(pod: Pod, entry: string, { spec }: resource.ResourceClaimTemplate): KubeObject {
  const { labels, annotations } = spec.metadata ?? {};
  const claim: Claim = {
    metadata: {
      generateName: generatedName(pod.metadata.name ?? "", entry),
      namespace: pod.metadata.namespace ?? "",
      ...(labels !== undefined && { labels }),
      annotations: { ...annotations, [POD_CLAIM]: entry },
      ownerReferences: [ownedBy(pod, POD)],
    },
    spec: spec.spec,
  };
  return claim;
}

/** Both names are cut in proportion to their length. */
export function generatedName(pod: string, entry: string): string {
  const whole = `${pod}-${entry}-`;
  if (whole.length <= MAX_BASE) return whole;
  const share = (name: string) => name.slice(0, Math.floor((name.length * MAX_BASE) / whole.length));
  return `${share(pod)}-${share(entry)}`;
}

function noTemplate(name: string): string {
  return `resource claim template "${name}": resourceclaimtemplate.resource.k8s.io "${name}" not found`;
}

function failure(about: Pod, entry: string, why: string): RecordedEvent {
  const note = `PodResourceClaim ${entry}: ${why}`;
  return { about, type: "Warning", reason: "FailedResourceClaimCreation", note };
}
