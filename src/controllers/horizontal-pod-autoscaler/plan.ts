/** From a decision to writes: the scale of the target, then the status, which tells how that went. */
import { type autoscaling, kinds } from "#api";
import type { RecordedEvent } from "#client";
import type { Plan, Write } from "../runtime/index.ts";
import type { Decision, EventFacts, Outcome } from "./decide.ts";
import { isSameStatus } from "./status.ts";
import type { Target } from "./target.ts";

type Hpa = autoscaling.HorizontalPodAutoscaler;

/** `onScaled`: what to remember once the outcome of the write is known. */
export function planOf(
  hpa: Hpa,
  { events, status, rescale }: Pick<Decision, "events" | "status" | "rescale">,
  target: Target | undefined,
  againAfterMs: number,
  onScaled: (outcome: Outcome) => void = () => {},
): Plan {
  const recorded = events.map((event) => eventAbout(hpa, event));
  if (rescale === undefined || target === undefined)
    return { events: recorded, steps: [statusWrites(hpa, status)], againAfterMs };
  const { resource, scale } = target;
  const object = { ...scale, spec: { ...scale.spec, replicas: rescale.replicas } };
  const write: Write = { verb: "update", resource, subresource: "scale", object };
  let outcome: Outcome | undefined;
  return {
    steps: [[write]],
    events: recorded,
    eventFor: (done, result) => {
      if (done !== write) return undefined;
      outcome = result.ok ? rescale.succeeded() : rescale.failed(textOf(result.error));
      onScaled(outcome);
      return eventAbout(hpa, outcome.event);
    },
    finally: () => (outcome === undefined ? [] : statusWrites(hpa, outcome.status)),
    againAfterMs,
    decided: `scale ${hpa.spec.scaleTargetRef.kind} ${hpa.spec.scaleTargetRef.name} from ${scale.spec?.replicas ?? 0} to ${rescale.replicas}: ${rescale.reason}`,
  };
}

function statusWrites(hpa: Hpa, status: autoscaling.HorizontalPodAutoscalerStatus): readonly Write[] {
  if (isSameStatus(hpa.status, status)) return [];
  return [{ verb: "updateStatus", resource: kinds.HorizontalPodAutoscaler, object: { ...hpa, status } as Hpa }];
}

function eventAbout(about: Hpa, { type, reason, note }: EventFacts): RecordedEvent {
  return { about, type, reason, note };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
