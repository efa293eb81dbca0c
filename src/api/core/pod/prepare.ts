/**
 * What the server sets on a new pod: phase, QoS class, scheduling gates condition, and AppArmor fields from
 * annotations.
 */

import { at } from "../../machinery/errors/field-error.ts";
import { equalJson } from "../../machinery/json/equal.ts";
import type { Json } from "../../machinery/json/json.ts";
import type { RequestFacts } from "../../machinery/kind.ts";
import { formatTime, instantOf } from "../../machinery/scalars/time.ts";
import type { Draft } from "../../machinery/schema/object.ts";
import type { Pod, PodCondition } from "../../types/core-v1.ts";
import { appArmorOf, containerAppArmor } from "./fields/annotations.ts";
import { allContainers } from "./fields/visit.ts";
import { computeQosClass } from "./resources/qos.ts";
import { mergeMatchLabelKeys } from "./scheduling/match-label-keys.ts";
import { validateAppArmor } from "./security/security-context.ts";

export function prepareNewPod(draft: Draft<Pod>, request?: RequestFacts): void {
  draft.status = { phase: "Pending", qosClass: computeQosClass(draft.spec) };
  if ((draft.spec?.schedulingGates ?? []).length > 0) {
    draft.status.conditions = [gated(request)];
  }
  mergeMatchLabelKeys(draft);
  takeAppArmorAnnotations(draft);
}

function gated(request: RequestFacts | undefined): Draft<PodCondition> {
  const condition = {
    type: "PodScheduled",
    status: "False",
    // Unset times are written as null.
    lastProbeTime: null,
    lastTransitionTime: request === undefined ? null : formatTime(instantOf(request.now)),
    reason: "SchedulingGated",
    message: "Scheduling is blocked due to non-empty scheduling gates",
  };
  return condition as unknown as Draft<PodCondition>;
}

function takeAppArmorAnnotations({ metadata, spec }: Draft<Pod>): void {
  const annotations = metadata.annotations ?? {};
  if (spec === undefined || spec.os?.name === "windows") return;
  for (const container of allContainers(spec) as Draft<ReturnType<typeof allContainers>>) {
    const annotation = annotations[`${containerAppArmor}${container.name}`];
    if (annotation === undefined || container.securityContext?.appArmorProfile !== undefined) continue;
    const profile = appArmorOf(annotation);
    if (profile === undefined || validateAppArmor(profile, at()).length > 0) continue;
    if (equalJson(profile as unknown as Json, (spec.securityContext?.appArmorProfile ?? null) as unknown as Json))
      continue;
    container.securityContext = { ...container.securityContext, appArmorProfile: { ...profile } };
  }
}
