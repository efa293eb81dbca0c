/**
 * Labels and annotations that identify sandboxes and containers in the runtime, under the names that other tools
 * expect.
 */
import { createHash } from "node:crypto";
import { type core, writeJson } from "#api";
import type { ContainerStatus } from "../runtime/runtime.ts";

export const POD_NAME = "io.kubernetes.pod.name";
export const POD_NAMESPACE = "io.kubernetes.pod.namespace";
export const POD_UID = "io.kubernetes.pod.uid";
export const CONTAINER_NAME = "io.kubernetes.container.name";

export const CONTAINER_HASH = "io.kubernetes.container.hash";
export const RESTART_COUNT = "io.kubernetes.container.restartCount";
export const TERMINATION_MESSAGE_PATH = "io.kubernetes.container.terminationMessagePath";
export const TERMINATION_MESSAGE_POLICY = "io.kubernetes.container.terminationMessagePolicy";
export const PRE_STOP = "io.kubernetes.container.preStopHandler";
export const CONTAINER_PORTS = "io.kubernetes.container.ports";
export const DELETION_GRACE = "io.kubernetes.pod.deletionGracePeriod";
/** The resources that the container was created with: not every runtime reports them. */
export const RESOURCES = "k8ts.io/container.resources";
export const TERMINATION_GRACE = "io.kubernetes.pod.terminationGracePeriod";

export type AnyContainer = core.Container | core.EphemeralContainer;

export function podLabels({ metadata }: core.Pod): Record<string, string> {
  return {
    [POD_NAME]: metadata.name ?? "",
    [POD_NAMESPACE]: metadata.namespace ?? "",
    [POD_UID]: metadata.uid ?? "",
  };
}

export function containerLabels(pod: core.Pod, container: AnyContainer): Record<string, string> {
  return { ...podLabels(pod), [CONTAINER_NAME]: container.name };
}

export function containerAnnotations(pod: core.Pod, container: AnyContainer, attempt: number): Record<string, string> {
  const { deletionGracePeriodSeconds } = pod.metadata;
  const { terminationGracePeriodSeconds } = pod.spec ?? {};
  const { preStop } = container.lifecycle ?? {};
  const { ports = [] } = container;
  return {
    [CONTAINER_HASH]: containerHash(container),
    [RESTART_COUNT]: String(attempt),
    [RESOURCES]: JSON.stringify(container.resources ?? {}),
    [TERMINATION_MESSAGE_PATH]: container.terminationMessagePath ?? "",
    [TERMINATION_MESSAGE_POLICY]: container.terminationMessagePolicy ?? "",
    ...(deletionGracePeriodSeconds !== undefined && { [DELETION_GRACE]: String(deletionGracePeriodSeconds) }),
    ...(terminationGracePeriodSeconds !== undefined && { [TERMINATION_GRACE]: String(terminationGracePeriodSeconds) }),
    ...(preStop !== undefined && { [PRE_STOP]: writeJson(preStop) }),
    ...(ports.length > 0 && { [CONTAINER_PORTS]: JSON.stringify(ports) }),
  };
}

/** Changes with what needs a new container when it changes in a running Pod: the image. */
export function containerHash({ name, image = "" }: AnyContainer): string {
  return createHash("sha256").update(`${name}\0${image}`).digest("hex").slice(0, 8);
}

/** The directory of a Pod's logs, with a folder for each container. */
export function podLogDirectory(root: string, { metadata: { name = "", namespace = "", uid = "" } }: core.Pod): string {
  return `${root}/${namespace}_${name}_${uid}`;
}

export function containerLogPath(container: string, attempt: number): string {
  return `${container}/${attempt}.log`;
}

export function nameOf({ labels, metadata }: Pick<ContainerStatus, "labels" | "metadata">): string {
  return labels[CONTAINER_NAME] ?? metadata.name;
}

/** How many instances of the container existed before this one. */
export function attemptOf({ annotations, metadata }: Pick<ContainerStatus, "annotations" | "metadata">): number {
  const count = Number(annotations[RESTART_COUNT]);
  return annotations[RESTART_COUNT] === undefined || Number.isNaN(count) ? metadata.attempt : count;
}
