/**
 * Explains the state of a PersistentVolumeClaim.
 *
 *     being deleted · lost · bound: grows, changes · pending: volume not free · no class · waits · not provisioned
 */
import type { core } from "#api";
import { headline, type Reason, type WhyAnswer } from "./answer.ts";
import { whyChanging } from "./claim-changes.ts";
import { eventReason, lastEvent } from "./claim-events.ts";
import type { ClaimFacts } from "./claim-facts.ts";
import { whyNotProvisioned } from "./claim-provisioning.ts";
import { whyPod } from "./why-pod.ts";

type Part = Omit<WhyAnswer, "what">;

const SELECTED_NODE = "volume.kubernetes.io/selected-node";

export function whyClaim(facts: ClaimFacts): WhyAnswer {
  const { claim } = facts;
  const { metadata, spec, status } = claim;
  const name = `persistentvolumeclaim/${metadata.name}`;
  const phase = status?.phase ?? "Pending";
  if (metadata.deletionTimestamp !== undefined) return { what: `${name} is being deleted`, ...whyKept(facts) };
  if (phase === "Lost") return { what: `${name} is Lost`, ...whyLost(facts) };
  if (phase === "Bound") {
    const bound = { text: `to ${spec?.volumeName}`, evidence: "spec.volumeName" };
    const changing = whyChanging(facts);
    const state = changing === undefined ? "" : `, ${changing.state}`;
    const because = [bound, ...(changing?.because ?? []), ...usedBy(facts)];
    return { what: `${name} is Bound${state}`, because, help: changing?.help ?? [] };
  }
  const pending = whyPending(facts);
  // The first reason says what is asked for, the last one what there is.
  const cause = pending.cause ?? pending.because.at(-1)?.text;
  return { what: `${name} is ${phase}`, ...pending, cause };
}

function whyKept({ claim, pods = [] }: ClaimFacts): Part {
  const { finalizers = [] } = claim.metadata;
  const because: Reason[] = [
    { text: `it is kept by finalizers: ${finalizers.join(", ")}`, evidence: "metadata.finalizers" },
  ];
  if (pods.length === 0) return { because, help: [] };
  because.push({ text: `used by ${namesOf(pods)}`, evidence: "spec.volumes of Pods" });
  return { cause: `used by ${namesOf(pods)}`, because, help: ["it goes when these Pods are gone"] };
}

function whyLost({ claim, events }: ClaimFacts): Part {
  const last = events.findLast(({ reason = "" }) => ["ClaimLost", "ClaimMisbound"].includes(reason));
  const because = [
    { text: `its volume was ${claim.spec?.volumeName || "removed from its spec"}`, evidence: "spec.volumeName" },
    ...(last === undefined ? [] : [eventReason(last)]),
  ];
  return { because, help: ["a claim that is Lost does not come back: delete it, and restore its data elsewhere"] };
}

function usedBy({ pods = [], attachments = [], volume }: ClaimFacts): Reason[] {
  const attached = attachments.filter(({ spec }) => spec.source?.persistentVolumeName === volume?.metadata.name);
  const reasons = attached.map(({ metadata, spec, status }): Reason => {
    const evidence = `volumeattachment/${metadata.name}`;
    const failed = status?.attachError?.message ?? status?.detachError?.message;
    if (failed !== undefined) return { text: `on node ${spec.nodeName}: ${failed}`, evidence };
    return { text: `${status?.attached ? "attached" : "being attached"} to node ${spec.nodeName}`, evidence };
  });
  return pods.length === 0
    ? reasons
    : [...reasons, { text: `used by ${namesOf(pods)}`, evidence: "spec.volumes of Pods" }];
}

function whyPending(facts: ClaimFacts): Part {
  const { claim, storageClass, volume, events } = facts;
  const { volumeName = "", storageClassName } = claim.spec ?? {};
  if (volumeName !== "") return whyNotBound(claim, volume, events);
  if (storageClassName === undefined)
    return {
      cause: "it has no storage class, and there is no default one",
      because: [
        { text: "it has no storage class, and there is no default one", evidence: "spec.storageClassName" },
        ...lastEvent(events, "FailedBinding"),
      ],
      help: ["name a class: `kubectl get storageclass`; or mark one as default, which then applies to this claim too"],
    };
  if (storageClassName === "")
    return {
      because: [
        { text: "it asks for a volume without a class: one has to be made by hand", evidence: "spec.storageClassName" },
        ...lastEvent(events, "FailedBinding"),
      ],
      help: ["create a PersistentVolume that fits: size, access modes, selector, and no storageClassName"],
    };
  const asks = {
    text: `it requests the storage class ${JSON.stringify(storageClassName)}`,
    evidence: "spec.storageClassName",
  };
  if (storageClass === undefined)
    return {
      cause: `the storage class ${storageClassName} does not exist`,
      because: [asks, { text: "there is no such class", evidence: `storageclass/${storageClassName}` }],
      help: ["create this class; a claim's class cannot be changed: or make the claim again with another one"],
    };
  const waiting = storageClass.volumeBindingMode === "WaitForFirstConsumer" ? whyWaiting(facts) : undefined;
  const { cause, because, help } = waiting ?? whyNotProvisioned({ ...facts, storageClass });
  return { cause, because: [asks, ...because], help };
}

/** Undefined: a node has been chosen. */
function whyWaiting({ claim, pods = [] }: ClaimFacts): Part | undefined {
  const node = claim.metadata.annotations?.[SELECTED_NODE];
  if (node !== undefined) return undefined;
  const mode = {
    text: "its class waits for the first Pod that uses it",
    evidence: "volumeBindingMode: WaitForFirstConsumer",
  };
  const [first] = pods;
  if (first === undefined)
    return {
      cause: "no Pod uses it, and its class waits for the first one",
      because: [mode, { text: "no Pod uses it", evidence: "Pods of its namespace" }],
      help: ["it will be bound when a Pod uses it"],
    };
  const unscheduled = pods.find(({ pod }) => (pod?.spec?.nodeName ?? "") === "") ?? first;
  const inner = whyPod(unscheduled);
  return {
    cause: headline(inner),
    because: [mode, { text: headline(inner), evidence: `pod/${unscheduled.name}` }, ...inner.because],
    help: inner.help,
  };
}

function whyNotBound(
  claim: core.PersistentVolumeClaim,
  volume: core.PersistentVolume | undefined,
  events: readonly core.Event[],
): Part {
  const wanted = claim.spec?.volumeName ?? "";
  const asks = { text: `it asks for the volume ${wanted}`, evidence: "spec.volumeName" };
  if (volume === undefined)
    return {
      cause: `the volume ${wanted} does not exist`,
      because: [asks, { text: "there is no such volume", evidence: `persistentvolume/${wanted}` }],
      help: ["create this volume, or make the claim again without spec.volumeName"],
    };
  const { claimRef } = volume.spec ?? {};
  if (claimRef !== undefined && claimRef.uid !== undefined && claimRef.uid !== claim.metadata.uid)
    return {
      because: [
        asks,
        {
          text: `which belongs to ${claimRef.namespace}/${claimRef.name} (${volume.status?.phase ?? "unknown"})`,
          evidence: `persistentvolume/${wanted}, spec.claimRef`,
        },
      ],
      help: ["a released volume is free again once its spec.claimRef is removed"],
    };
  return { because: [asks, ...lastEvent(events, "VolumeMismatch", "FailedBinding")], help: [] };
}

function namesOf(pods: ClaimFacts["pods"] = []): string {
  return pods.map(({ name }) => `pod/${name}`).join(", ");
}
