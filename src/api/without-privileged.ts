/**
 * The kinds of a server without `--allow-privileged`: Pods and pod templates that ask for privileges are invalid. They
 * are values of their own, since servers of one process may be set differently; where privileges are allowed, nothing
 * is looked for.
 */
import { withPrivilegedRefused } from "./core/pod/index.ts";
import type { FieldError, FieldPath } from "./machinery/errors/field-error.ts";
import type { Kind, PartRules } from "./machinery/kind.ts";
import type { KubeObject } from "./machinery/schema/object.ts";
import type { PodSpec } from "./types/core-v1.ts";

/** Where each kind has its pod spec. */
const SPECS: ReadonlyMap<string, readonly string[]> = new Map([
  ["/Pod", ["spec"]],
  ["/PodTemplate", ["template", "spec"]],
  ["/ReplicationController", ["spec", "template", "spec"]],
  ["apps/DaemonSet", ["spec", "template", "spec"]],
  ["apps/Deployment", ["spec", "template", "spec"]],
  ["apps/ReplicaSet", ["spec", "template", "spec"]],
  ["apps/StatefulSet", ["spec", "template", "spec"]],
  ["batch/CronJob", ["spec", "jobTemplate", "spec", "template", "spec"]],
  ["batch/Job", ["spec", "template", "spec"]],
]);

export function withoutPrivileged(kinds: readonly Kind[]): readonly Kind[] {
  return kinds.map((kind) => {
    const names = SPECS.get(`${kind.group}/${kind.kind}`);
    return names === undefined ? kind : refusing(kind, names);
  });
}

function refusing(kind: Kind, names: readonly string[]): Kind {
  const { create, update, subresources } = kind;
  const checked = (errors: readonly FieldError[] = [], object: KubeObject, path: FieldPath) =>
    withPrivilegedRefused(errors, specIn(object, names), path.below(names));
  const refusingPart = (rules: PartRules<KubeObject>): PartRules<KubeObject> => ({
    ...rules,
    validate: (object, old, path) => checked(rules.validate?.(object, old, path), object, path),
  });
  const parts = Object.entries(subresources?.parts ?? {}).map(([name, rules]) => [name, refusingPart(rules)]);
  return {
    ...kind,
    create: { ...create, validate: (object, path) => checked(create?.validate?.(object, path), object, path) },
    update: {
      ...update,
      validate: (object, old, path) => checked(update?.validate?.(object, old, path), object, path),
    },
    ...(subresources !== undefined && { subresources: { ...subresources, parts: Object.fromEntries(parts) } }),
  };
}

function specIn(object: KubeObject, names: readonly string[]): PodSpec | undefined {
  let value: unknown = object;
  for (const name of names) value = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
  return value as PodSpec | undefined;
}
