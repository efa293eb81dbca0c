/**
 * Pod annotations that the API itself interprets: mirror pods, deletion cost, and the former seccomp and AppArmor
 * annotations.
 */
import { type FieldError, type FieldPath, forbidden, invalid } from "../../../machinery/errors/field-error.ts";
import { goQuote } from "../../../machinery/json/go-text.ts";
import type { AppArmorProfile, PodSpec, SeccompProfile } from "../../../types/core-v1.ts";
import { validateDescendingPath } from "./paths.ts";
import type { PodValidationOptions } from "./validation-options.ts";
import { allContainers, placedContainers } from "./visit.ts";

export type Annotations = Readonly<Record<string, string>>;

export const mirrorPod = "kubernetes.io/config.mirror";
const deletionCost = "controller.kubernetes.io/pod-deletion-cost";
export const podSeccomp = "seccomp.security.alpha.kubernetes.io/pod";
export const containerSeccomp = "container.seccomp.security.alpha.kubernetes.io/";
export const containerAppArmor = "container.apparmor.security.beta.kubernetes.io/";
const localhost = "localhost/";
const runtimeDefault = "runtime/default";
const dockerDefault = "docker/default";
const unconfined = "unconfined";

export function isDeletionCost(annotations: Annotations | undefined): boolean {
  const cost = annotations?.[deletionCost];
  if (cost === undefined) return true;
  return /^(0|-\d+|[1-9]\d*)$/.test(cost) && Number(cost) >= -(2 ** 31) && Number(cost) < 2 ** 31;
}

export function validatePodAnnotations(
  annotations: Annotations | undefined,
  spec: PodSpec,
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  if (annotations === undefined) return [];
  const errors: FieldError[] = [];
  const mirror = annotations[mirrorPod];
  if (mirror !== undefined && !spec.nodeName) {
    errors.push(invalid(at.key(mirrorPod), mirror, "must set spec.nodeName if mirror pod annotation is set"));
  }
  if (!options.allowAnyDeletionCost && !isDeletionCost(annotations)) {
    errors.push(invalid(at.key(deletionCost), annotations[deletionCost] ?? "", "must be a 32bit integer"));
  }
  for (const [key, profile] of Object.entries(annotations)) {
    if (key === podSeccomp || key.startsWith(containerSeccomp)) errors.push(...seccompFaults(profile, at.child(key)));
  }
  for (const [key, profile] of Object.entries(annotations)) {
    if (!key.startsWith(containerAppArmor)) continue;
    const name = key.slice(containerAppArmor.length);
    if (!allContainers(spec).some((container) => container.name === name))
      errors.push(invalid(at.key(key), name, "container not found"));
    if (profile !== "" && profile !== runtimeDefault && profile !== unconfined && !profile.startsWith(localhost)) {
      errors.push(invalid(at.key(key), profile, `invalid AppArmor profile name: ${goQuote(profile)}`));
    }
  }
  return errors;
}

function seccompFaults(profile: string, at: FieldPath): readonly FieldError[] {
  if (profile === runtimeDefault || profile === dockerDefault || profile === unconfined) return [];
  if (profile.startsWith(localhost)) return validateDescendingPath(profile.slice(localhost.length), at);
  return [invalid(at, profile, "must be a valid seccomp profile")];
}

/** A pod never becomes or stops being a mirror pod, and keeps its AppArmor profiles. */
export function validateAnnotationChanges(
  next: Annotations = {},
  old: Annotations = {},
  at: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(old)) {
    if (next[key] === value) continue;
    if (key.startsWith(containerAppArmor))
      errors.push(forbidden(at.key(key), "may not remove or update AppArmor annotations"));
    if (key === mirrorPod) errors.push(forbidden(at.key(key), "may not remove or update mirror pod annotation"));
  }
  for (const key of Object.keys(next)) {
    if (Object.hasOwn(old, key)) continue;
    if (key.startsWith(containerAppArmor)) errors.push(forbidden(at.key(key), "may not add AppArmor annotations"));
    if (key === mirrorPod) errors.push(forbidden(at.key(key), "may not add mirror pod annotation"));
  }
  return errors;
}

type Profile = SeccompProfile | AppArmorProfile;

/** Where both a field and its former annotation are set, they must agree. */
export function validateProfilesAgree(
  annotations: Annotations | undefined,
  spec: PodSpec,
  at: FieldPath,
): readonly FieldError[] {
  if (annotations === undefined) return [];
  const errors: FieldError[] = [];
  const { seccompProfile, appArmorProfile } = spec.securityContext ?? {};
  const compare = (key: string, profile: Profile | undefined, word: string, path: FieldPath) => {
    const annotation = annotations[key];
    if (annotation !== undefined && profile !== undefined)
      errors.push(...disagreement(annotation, profile, word, path));
  };
  compare(podSeccomp, seccompProfile, "seccomp", at.child("securityContext", "seccompProfile"));
  const containers = placedContainers(spec, at);
  for (const { container, path } of containers) {
    const where = path.child("securityContext", "seccompProfile");
    compare(`${containerSeccomp}${container.name}`, container.securityContext?.seccompProfile, "seccomp", where);
  }
  if (spec.os?.name === "windows") return errors;
  for (const { container, path } of containers) {
    const profile = container.securityContext?.appArmorProfile ?? appArmorProfile;
    compare(
      `${containerAppArmor}${container.name}`,
      profile,
      "apparmor",
      path.child("securityContext", "appArmorProfile"),
    );
  }
  return errors;
}

function disagreement(
  annotation: string,
  { type, localhostProfile }: Profile,
  word: string,
  at: FieldPath,
): readonly FieldError[] {
  const wrongType = [forbidden(at.child("type"), `${word} type in annotation and field must match`)];
  if (type === "Unconfined") return annotation === unconfined ? [] : wrongType;
  if (type === "RuntimeDefault") {
    return annotation === runtimeDefault || (word === "seccomp" && annotation === dockerDefault) ? [] : wrongType;
  }
  if (type !== "Localhost") return [];
  if (!annotation.startsWith(localhost)) return wrongType;
  if (annotation.slice(localhost.length) === localhostProfile) return [];
  return [forbidden(at.child("localhostProfile"), `${word} profile in annotation and field must match`)];
}

/** The field that an annotation stands for. */
export function appArmorOf(annotation: string): AppArmorProfile | undefined {
  if (annotation === unconfined) return { type: "Unconfined" };
  if (annotation === runtimeDefault) return { type: "RuntimeDefault" };
  if (!annotation.startsWith(localhost)) return undefined;
  const localhostProfile = annotation.slice(localhost.length);
  return localhostProfile === "" ? undefined : { type: "Localhost", localhostProfile };
}
