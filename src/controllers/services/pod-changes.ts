/** The changes of a Pod that concern Services. */
import { type core, equalJson, type Json } from "#api";
import type { Change } from "#client";
import { isEnding, isFinished, isReady } from "../pods/index.ts";

export function mattersToServices({ type, object, old }: Change<core.Pod>): boolean {
  // A finished Pod looks like a terminating one, but its removal matters.
  return type === "deleted" || old === undefined || !equalJson(facts(object), facts(old));
}

function facts(pod: core.Pod): Json {
  const { metadata, spec, status } = pod;
  return [
    metadata.uid ?? "",
    metadata.labels ?? {},
    isEnding(pod),
    isFinished(pod),
    isReady(pod),
    spec?.nodeName ?? "",
    status?.podIP ?? "",
    (status?.podIPs ?? []).map(({ ip }) => ip ?? ""),
  ];
}
