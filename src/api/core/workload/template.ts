/**
 * The pod template of workloads that keep pods running: ReplicationController, ReplicaSet, Deployment, StatefulSet,
 * DaemonSet.
 */

import {
  type FieldError,
  type FieldPath,
  forbidden,
  notSupported,
  at as path,
} from "../../machinery/errors/field-error.ts";
import type { LabelMatcher } from "../../machinery/names/labels.ts";
import { checkDns1123Label } from "../../machinery/names/names.ts";
import type { KubeObject } from "../../machinery/schema/object.ts";
import type { PodTemplateSpec } from "../../types/core-v1.ts";
import { podTemplateOptions, podTemplateWarnings, validatePodTemplateSpec } from "../pod/index.ts";
import { checkTemplateMatches } from "./selector.ts";

/** `kind`: its name in messages. `old`: the template before an update, whose leniencies the new one may keep. */
export function validateReplicatedTemplate(
  template: PodTemplateSpec | undefined,
  old: PodTemplateSpec | undefined,
  matcher: LabelMatcher,
  at: FieldPath,
  kind = "ReplicaSet",
): readonly FieldError[] {
  return [
    ...checkTemplateMatches(template, matcher, at),
    ...validatePodTemplateSpec(template, at, podTemplateOptions(template, old)),
    ...validateAlwaysRestarts(template, at),
    ...validateNoDeadline(template, at, kind),
  ];
}

export function validateAlwaysRestarts(template: PodTemplateSpec | undefined, at: FieldPath): readonly FieldError[] {
  const policy = template?.spec?.restartPolicy ?? "";
  return policy === "Always" ? [] : [notSupported(at.child("spec", "restartPolicy"), policy, ["Always"])];
}

export function validateNoDeadline(
  template: PodTemplateSpec | undefined,
  at: FieldPath,
  kind: string,
): readonly FieldError[] {
  if (template?.spec?.activeDeadlineSeconds === undefined) return [];
  return [forbidden(at.child("spec", "activeDeadlineSeconds"), `activeDeadlineSeconds in ${kind} is not Supported`)];
}

/** An update that leaves the spec unchanged gives no warnings. */
export function isSpecChange(object: KubeObject, old: KubeObject | undefined): boolean {
  return old === undefined || old.metadata.generation !== object.metadata.generation;
}

export function templateWarnings(
  object: KubeObject,
  old: KubeObject | undefined,
  template: PodTemplateSpec | undefined,
  where: FieldPath = path("spec", "template"),
): readonly string[] {
  return isSpecChange(object, old) ? podTemplateWarnings(template, where) : [];
}

/** Names that are valid, but do not work well as parts of host names. */
export function podNameWarnings(name: string): readonly string[] {
  const faults = checkDns1123Label(name);
  if (faults.length === 0) return [];
  const why =
    "this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended";
  return [`metadata.name: ${why}: [${faults.join(" ")}]`];
}
