/** Events about Pods. */
import type { core } from "#api";
import type { EventRecorder } from "#client";

export interface PodEvents {
  record(pod: core.Pod, type: "Normal" | "Warning", reason: string, note: string): void;
}

export function podEvents(recorder: EventRecorder): PodEvents {
  return {
    record: ({ metadata }, type, reason, note) =>
      recorder.record({ about: { apiVersion: "v1", kind: "Pod", metadata }, type, reason, note }),
  };
}
