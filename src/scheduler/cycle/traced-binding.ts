/** The span of a scheduling attempt that found a node: filtering, scoring, and the binding, which it runs. */
import { revisionOf } from "#client";
import { bindPod, type Placement } from "./binding.ts";
import type { Parts } from "./parts.ts";

export interface AttemptTimes {
  /** Monotonic. */
  readonly startedMs: number;
  readonly filteredMs: number;
}

export function tracedBinding(
  parts: Parts,
  { startedMs, filteredMs }: AttemptTimes,
  placement: Placement,
  decidedMs: number,
): Promise<void> {
  const { tracer, clock } = parts;
  if (tracer === undefined) return bindPod(parts, placement);
  const { queued, node, stages, filtered } = placement;
  const { pod, wokenBy, attempts } = queued;
  const offsetMs = clock.now() - clock.monotonic();
  const facts = {
    name: "Schedule pods",
    woken: [revisionOf(pod.pod), ...(wokenBy === undefined ? [] : [revisionOf(wokenBy)])],
    startMs: offsetMs + startedMs,
    attributes: {
      "k8s.namespace.name": pod.namespace,
      "k8s.pod.name": pod.name,
      "k8s.pod.uid": pod.uid,
      "k8s.node.name": node,
      "k8ts.scheduler": stages.schedulerName,
      "k8ts.attempt": attempts,
      "k8ts.feasible_nodes": filtered.count,
    },
  };
  return tracer.during(facts, (span) => {
    span.child("Filter", { startMs: offsetMs + startedMs }).end(offsetMs + filteredMs);
    span.child("Score", { startMs: offsetMs + filteredMs }).end(offsetMs + decidedMs);
    return bindPod(parts, placement);
  });
}
