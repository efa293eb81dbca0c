/** Events about attaching, in the words of Kubernetes. */
import type { RecordedEvent } from "#client";
import type { Pod } from "../pods/index.ts";
import type { WantedVolume } from "./wanted-volumes.ts";

export function attached({ volume, pods }: WantedVolume): readonly RecordedEvent[] {
  // Kubernetes' message ends with a space.
  const note = `AttachVolume.Attach succeeded for volume "${volume.metadata.name ?? ""}" `;
  return pods.map((about) => ({ about, type: "Normal", reason: "SuccessfulAttachVolume", note }));
}

export function attachFailed({ volume, pods }: WantedVolume, why: string): readonly RecordedEvent[] {
  const note = `AttachVolume.Attach failed for volume "${volume.metadata.name ?? ""}" : ${why}`;
  return pods.map((about) => warning(about, note));
}

/** `users`: the Pods that use the volume on other nodes. A Pod's users learn no names of other namespaces. */
export function multiAttach({ volume, pods }: WantedVolume, users: readonly Pod[]): readonly RecordedEvent[] {
  const prefix = `Multi-Attach error for volume "${volume.metadata.name ?? ""}" `;
  return pods.map((about) => warning(about, prefix + usedBy(about, users)));
}

function usedBy({ metadata }: Pod, users: readonly Pod[]): string {
  if (users.length === 0) return "Volume is already exclusively attached to one node and can't be attached to another";
  const names = users.filter((pod) => pod.metadata.namespace === metadata.namespace).map((pod) => pod.metadata.name);
  const others = users.length - names.length;
  if (names.length === 0) return `Volume is already used by ${others} pod(s) in different namespaces`;
  const used = `Volume is already used by pod(s) ${names.join(", ")}`;
  return others === 0 ? used : `${used} and ${others} pod(s) in different namespaces`;
}

function warning(about: Pod, note: string): RecordedEvent {
  return { about, type: "Warning", reason: "FailedAttachVolume", note };
}
