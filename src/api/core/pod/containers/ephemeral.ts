/**
 * Ephemeral containers, which are added to a running pod for debugging. Fields that would make them part of the pod's
 * work are forbidden.
 */
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  notFound,
} from "../../../machinery/errors/field-error.ts";
import { sentEmpty } from "../../../machinery/json/sent-empty.ts";
import type { EphemeralContainer } from "../../../types/core-v1.ts";
import { type ContainerContext, imageSpaceFaults, validateAnyContainer } from "./containers.ts";

const notAllowed = "cannot be set for an Ephemeral Container";

/** In the order in which they are reported. */
const refused = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
] as const;

export function validateEphemeralContainers(context: ContainerContext, at: FieldPath): readonly FieldError[] {
  const { containers, initContainers, ephemeralContainers } = context.spec;
  const others = new Set([...(containers ?? []), ...(initContainers ?? [])].map(({ name }) => name));
  const names = new Set(others);
  const errors: FieldError[] = [];
  for (const [i, container] of (ephemeralContainers ?? []).entries()) {
    const path = at.index(i);
    errors.push(...validateAnyContainer(container, context, path), ...imageSpaceFaults(container, path));
    if (names.has(container.name)) errors.push(duplicate(path.child("name"), container.name));
    names.add(container.name);
    const target = container.targetContainerName ?? "";
    if (target !== "" && !others.has(target)) errors.push(notFound(path.child("targetContainerName"), target));
    errors.push(
      ...refused.filter((field) => isSet(container, field)).map((field) => forbidden(path.child(field), notAllowed)),
    );
    for (const [j, { subPath, subPathExpr }] of (container.volumeMounts ?? []).entries()) {
      const mount = path.child("volumeMounts").index(j);
      if (subPath) errors.push(forbidden(mount.child("subPath"), notAllowed));
      if (subPathExpr) errors.push(forbidden(mount.child("subPathExpr"), notAllowed));
    }
  }
  return errors;
}

/** `resources: {}` is on every container. An empty list is set, too. */
function isSet(container: EphemeralContainer, field: (typeof refused)[number]): boolean {
  const value = container[field];
  if (field !== "resources") return value !== undefined || sentEmpty(container, field) !== undefined;
  const { resources = {} } = container;
  return Object.keys(resources).length > 0 || parts.some((part) => sentEmpty(resources, part) !== undefined);
}

const parts = ["limits", "requests", "claims"];
