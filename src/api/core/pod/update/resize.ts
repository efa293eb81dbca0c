/** `pods/resize`: changes cpu and memory of a running pod, and nothing else. */

import { sameInternally, storedForm } from "../../../facts/index.ts";
import { type FieldError, type FieldPath, forbidden, invalid } from "../../../machinery/errors/field-error.ts";
import { equalJson } from "../../../machinery/json/equal.ts";
import type { Json } from "../../../machinery/json/json.ts";
import { ownValue } from "../../../machinery/json/own-key.ts";
import type { PartRules } from "../../../machinery/kind.ts";
import type { Draft } from "../../../machinery/schema/object.ts";
import type { Container, Pod, PodSpec, ResourceRequirements } from "../../../types/core-v1.ts";
import { mirrorPod } from "../fields/annotations.ts";
import { isSidecar } from "../resources/container-totals.ts";
import { computeQosClass, qosClassOf } from "../resources/qos.ts";
import { podOptions } from "../spec/options.ts";
import { keepMetadata, raiseGeneration } from "./kept.ts";
import { specOf, validateMetadataAndSpec } from "./update.ts";

type Amounts = Readonly<Record<string, string>> | undefined;
const lists = ["containers", "initContainers"] as const;

export const resizePart: PartRules<Pod> = {
  verbs: ["get", "patch", "update"],
  prepare: (draft, old) => {
    takeResources(draft, old);
    raiseGeneration(draft, old);
  },
  validate: validateResize,
};

/** Containers that were added, removed, renamed or moved are kept as sent: validation refuses them. */
function takeResources(draft: Draft<Pod>, old: Pod): void {
  const before = specOf(old);
  const next: Draft<PodSpec> = draft.spec ?? { containers: [] };
  if (lists.some((list) => (next[list] ?? []).length !== (before[list] ?? []).length)) return;
  const spec = structuredClone(before) as Draft<PodSpec>;
  if (next.resources === undefined) delete spec.resources;
  else spec.resources = next.resources;
  if (next.containers !== undefined) spec.containers = resized(next.containers, spec.containers);
  if (next.initContainers !== undefined) spec.initContainers = resized(next.initContainers, spec.initContainers ?? []);
  draft.spec = spec;
  keepMetadata(draft, old);
}

function resized(next: Draft<Container>[], old: Draft<Container>[]): Draft<Container>[] {
  if (next.some(({ name }, i) => name !== old[i]?.name)) return next;
  return next.map(({ resources, resizePolicy }, i) => {
    const { resources: _, resizePolicy: __, ...rest } = old[i] ?? { name: "" };
    return {
      ...rest,
      ...(resources === undefined ? {} : { resources }),
      ...(resizePolicy === undefined ? {} : { resizePolicy }),
    };
  });
}

export function validateResize(pod: Pod, old: Pod, at: FieldPath): readonly FieldError[] {
  if (old.metadata.annotations?.[mirrorPod] !== undefined) return [forbidden("", "static pods cannot be resized")];
  if (old.spec?.os?.name === "windows") return [forbidden("", "windows pods cannot be resized")];
  const errors = [...validateMetadataAndSpec(pod, at, podOptions(old.spec, old.metadata))];
  const path = at.child("spec");
  if (qosClassOf(old) !== computeQosClass(pod.spec)) {
    errors.push(invalid(path, pod.status?.qosClass ?? "", "Pod QOS Class may not change as a result of resizing"));
  }
  if (!canResize(old)) errors.push(forbidden(path, "Pod running on node without support for resize"));
  const [next, before] = [specOf(pod), specOf(old)];
  errors.push(...validatePodLevel(next.resources, before.resources, path));
  const order = validateOrder(next, before, path);
  if (order.length > 0) return [...errors, ...order];
  errors.push(
    ...validateRemovals(next, before, "initContainers", path),
    ...validateRemovals(next, before, "containers", path),
  );
  errors.push(...validateOthers(next, before, path));
  if (errors.length > 0) return errors;
  return equalJson(restOf(next), restOf(before)) ? [] : [forbidden(path, "only cpu and memory resources are mutable")];
}

/** A kubelet without support reports no resources. A resize is allowed while no container runs. */
function canResize({ status }: Pod): boolean {
  const running = (status?.containerStatuses ?? []).find(({ state }) => state?.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

function validatePodLevel(
  next: ResourceRequirements | undefined,
  old: ResourceRequirements | undefined,
  at: FieldPath,
): readonly FieldError[] {
  if (!isSaid(next) && !isSaid(old)) return [];
  const path = at.child("resources");
  if (old !== undefined && next === undefined) return [forbidden(path, "pod-level resources cannot be removed")];
  const errors: FieldError[] = [];
  if (isRemoved(next?.requests, old?.requests)) {
    errors.push(forbidden(path.child("requests"), "pod-level resource requests cannot be removed"));
  }
  if (isRemoved(next?.limits, old?.limits)) {
    errors.push(forbidden(path.child("limits"), "pod-level resource limits cannot be removed"));
  }
  if (!equalJson(fixedPart(next), fixedPart(old))) {
    errors.push(forbidden(at, "only cpu and memory resources are mutable at pod-level"));
  }
  return errors;
}

function validateOrder(next: PodSpec, old: PodSpec, at: FieldPath): readonly FieldError[] {
  return lists.flatMap((list) => {
    const before = old[list] ?? [];
    const after = next[list] ?? [];
    if (after.length !== before.length)
      return [forbidden(at.child(list), `${list} may not be added or removed on resize`)];
    return after.flatMap(({ name }, i) =>
      name === before[i]?.name
        ? []
        : [forbidden(at.child(list).index(i).child("name"), `${list} may not be renamed or reordered on resize`)],
    );
  });
}

function validateRemovals(
  next: PodSpec,
  old: PodSpec,
  list: (typeof lists)[number],
  at: FieldPath,
): readonly FieldError[] {
  return (next[list] ?? []).flatMap(({ resources }, i) => {
    const before = old[list]?.[i]?.resources;
    const path = at.child(list).index(i).child("resources");
    return (["requests", "limits"] as const)
      .filter((side) => isRemoved(resources?.[side], before?.[side]))
      .map((side) => forbidden(path.child(side), `resource ${side} cannot be removed`));
  });
}

function validateOthers(next: PodSpec, old: PodSpec, at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, container] of (next.containers ?? []).entries()) {
    if (!sameBut(container, old.containers?.[i]))
      errors.push(forbidden(at, "only cpu and memory resources are mutable"));
  }
  for (const [i, container] of (next.initContainers ?? []).entries()) {
    const before = old.initContainers?.[i];
    const path = at.child("initContainers").index(i);
    if (!sameBut(container, before)) {
      errors.push(forbidden(path, "only cpu and memory resources for init or sidecar containers are mutable"));
    }
    if (isSidecar(container) || before === undefined) continue;
    if (sameInternally("core.v1.Container", container, before)) continue;
    const why = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
    const restarts = (container.resizePolicy ?? []).filter(({ restartPolicy }) => restartPolicy === "RestartContainer");
    errors.push(...restarts.map(() => forbidden(path, why)));
  }
  return errors;
}

function sameBut(next: Container, old: Container | undefined): boolean {
  if (old === undefined) return false;
  const fixed = (container: Container) => ({ ...container, resources: withoutMutable(container.resources) });
  return sameInternally("core.v1.Container", fixed(next), fixed(old));
}

function restOf(spec: PodSpec): Json {
  const { resources: _, containers: __, initContainers: ___, ...rest } = spec;
  return storedForm("core.v1.PodSpec", rest);
}

function fixedPart(resources: ResourceRequirements | undefined): Json {
  return storedForm("core.v1.ResourceRequirements", withoutMutable(resources));
}

function withoutMutable(resources: ResourceRequirements | undefined): ResourceRequirements {
  const { limits, requests, claims } = resources ?? {};
  const kept = (amounts: Amounts) => {
    const { cpu: _, memory: __, ...rest } = amounts ?? {};
    return rest;
  };
  return {
    limits: kept(limits),
    requests: kept(requests),
    ...(claims === undefined || claims.length === 0 ? {} : { claims }),
  };
}

function isRemoved(next: Amounts, old: Amounts): boolean {
  return Object.keys(old ?? {}).some((name) => ownValue(next, name) === undefined);
}

function isSaid(resources: ResourceRequirements | undefined): boolean {
  return Object.keys({ ...resources?.limits, ...resources?.requests }).length > 0;
}
