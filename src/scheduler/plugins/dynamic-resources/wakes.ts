/** The events that may make a Pod fit whose claims could not be allocated. */
import { equalJson, type Json } from "#api";
import { objectKey } from "#client";
import type { ClusterEvent, PodInfo, Wake } from "../../framework/index.ts";
import type { DeviceFeatures } from "./device-features.ts";
import { type Claim, podClaims } from "./pod-claims.ts";

export function wakesOf(
  claim: (key: string) => Claim | undefined,
  features: Pick<DeviceFeatures, "deviceTaints" | "deviceTaintRules">,
): readonly Wake[] {
  return [
    { resource: "Node", actions: ["add", "labels"] },
    {
      resource: "ResourceClaim",
      actions: ["add", "update"],
      hint: (pod, event) => afterClaim(pod, event, claim),
      keys: (event) => (isFreed(event) ? undefined : [objectKey(event.new as Claim)]),
    },
    {
      resource: "TargetPod",
      actions: ["generatedResourceClaim"],
      hint: ({ pod }) => ("fault" in podClaims(pod, claim) ? "skip" : "queue"),
    },
    { resource: "DeviceClass", actions: ["add", "update"] },
    { resource: "ResourceSlice", actions: ["add", "update"] },
    // A rule that goes, or selects other devices, leaves some without its taint.
    ...(features.deviceTaints && features.deviceTaintRules
      ? [{ resource: "DeviceTaintRule", actions: ["update", "delete"] } as const]
      : []),
  ];
}

/** Devices are free again, for any Pod. */
function isFreed(event: ClusterEvent): boolean {
  const [before, after] = [event.old, event.new] as [Claim | undefined, Claim | undefined];
  return before?.status?.allocation !== undefined && after?.status?.allocation === undefined;
}

function afterClaim(
  { pod }: PodInfo,
  event: ClusterEvent,
  claim: (key: string) => Claim | undefined,
): "queue" | "skip" {
  const [before, after] = [event.old, event.new] as [Claim | undefined, Claim | undefined];
  const found = podClaims(pod, claim);
  if ("fault" in found || after === undefined) return "skip";
  if (isFreed(event)) return "queue";
  if (!found.claims.some(({ metadata }) => metadata.uid === after.metadata.uid)) return "skip";
  if (before === undefined) return "queue";
  const [was, is] = [before, after].map(({ status }) => (status ?? null) as unknown as Json);
  return equalJson(was ?? null, is ?? null) ? "skip" : "queue";
}
