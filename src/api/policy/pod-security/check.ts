/** A check of the Pod Security Standards, and texts that checks share. */

import { allContainers } from "../../core/pod/fields/visit.ts";
import { goQuote } from "../../machinery/json/go-text.ts";
import type { ObjectMeta } from "../../machinery/schema/object.ts";
import type { Container, EphemeralContainer, PodSpec, SecurityContext } from "../../types/core-v1.ts";

/** A pod, or the template of a workload. */
export interface PodLike {
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
}

export interface Violation {
  /** Short: for messages about many pods. */
  readonly reason: string;
  /** Names the containers and the expected values. */
  readonly detail: string;
}

export type CheckPod = (pod: PodLike) => Violation | undefined;

export interface PodSecurityCheck {
  readonly id: string;
  /** Oldest first; each holds from its minor version on. */
  readonly versions: readonly { readonly from: number; readonly check: CheckPod; readonly replaces?: string }[];
}

export type AnyContainer = Container | EphemeralContainer;

/** Names of the containers that violate a rule: init containers first, ephemeral ones last. */
export function containersWhere({ spec }: PodLike, isWrong: (container: AnyContainer) => boolean): readonly string[] {
  return allContainers(spec)
    .filter(isWrong)
    .map(({ name }) => name);
}

export function securityOf(container: AnyContainer): SecurityContext {
  return container.securityContext ?? {};
}

/** `container "a"`, `containers "a", "b"`. */
export function containersText(names: readonly string[]): string {
  return `${plural("container", names.length)} ${quoted(names)}`;
}

/** The pod itself, its containers, or both. */
export function settersText(pod: boolean, containers: readonly string[]): string {
  return [...(pod ? ["pod"] : []), ...(containers.length > 0 ? [containersText(containers)] : [])].join(" and ");
}

export function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join(", ");
}

export function plural(word: string, count: number): string {
  return count === 1 ? word : `${word}s`;
}

/** Each once, sorted. */
export function distinct(texts: Iterable<string>): readonly string[] {
  return [...new Set(texts)].sort();
}

/** `key="value"`. */
export function annotationText(key: string, value: string): string {
  return `${key}=${goQuote(value)}`;
}

/** With a user namespace of its own, root in the pod is not root on the node. */
export function hasUserNamespace({ spec }: PodLike): boolean {
  return spec.hostUsers === false;
}

export function isWindows({ spec }: PodLike): boolean {
  return spec.os?.name === "windows";
}
