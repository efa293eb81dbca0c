/** Volume mounts and volume devices of a container. */

import { oneOf, requireText } from "../../../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notFound,
  required,
} from "../../../machinery/errors/field-error.ts";
import type { Container, EphemeralContainer, Volume, VolumeDevice, VolumeMount } from "../../../types/core-v1.ts";
import { validateDescendingPath } from "../fields/paths.ts";

type Volumes = ReadonlyMap<string, Volume>;
type Mounting = Pick<Container | EphemeralContainer, "volumeMounts" | "volumeDevices" | "securityContext">;

const propagations = ["Bidirectional", "HostToContainer", "None"];
const recursions = ["Disabled", "Enabled", "IfPossible"];

/** Faults of subPath, propagation and recursiveReadOnly are reported at the list. */
export function validateMounts(container: Mounting, volumes: Volumes, at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const points = new Set<string>();
  const devices = container.volumeDevices ?? [];
  for (const [i, mount] of (container.volumeMounts ?? []).entries()) {
    const path = at.index(i);
    const { name = "", mountPath = "", subPath = "", subPathExpr = "" } = mount;
    errors.push(...requireText(name, path.child("name")));
    if (!volumes.has(name)) errors.push(notFound(path.child("name"), name));
    errors.push(...requireText(mountPath, path.child("mountPath")));
    if (points.has(mountPath)) errors.push(invalid(path.child("mountPath"), mountPath, "must be unique"));
    points.add(mountPath);
    if (devices.some((device) => device.name === name)) {
      errors.push(invalid(path.child("name"), name, "must not already exist in volumeDevices"));
    }
    if (devices.some((device) => device.devicePath === mountPath)) {
      errors.push(invalid(path.child("mountPath"), mountPath, "must not already exist as a path in volumeDevices"));
    }
    errors.push(...validateDescendingPath(subPath, at.child("subPath")));
    if (subPathExpr !== "" && subPath !== "") {
      errors.push(invalid(path.child("subPathExpr"), subPathExpr, "subPathExpr and subPath are mutually exclusive"));
    }
    errors.push(...validateDescendingPath(subPathExpr, at.child("subPathExpr")));
    errors.push(...validatePropagation(mount, container, at.child("mountPropagation")));
    errors.push(...validateRecursiveReadOnly(mount, at.child("recursiveReadOnly")));
  }
  return errors;
}

function validatePropagation(
  { mountPropagation }: VolumeMount,
  { securityContext }: Mounting,
  at: FieldPath,
): readonly FieldError[] {
  const errors = [...oneOf(mountPropagation, propagations, at)];
  if (mountPropagation === "Bidirectional" && securityContext?.privileged !== true) {
    errors.push(forbidden(at, "Bidirectional mount propagation is available only to privileged containers"));
  }
  return errors;
}

function validateRecursiveReadOnly(
  { recursiveReadOnly, readOnly, mountPropagation }: VolumeMount,
  at: FieldPath,
): readonly FieldError[] {
  if (recursiveReadOnly !== "Enabled" && recursiveReadOnly !== "IfPossible")
    return oneOf(recursiveReadOnly, recursions, at);
  const errors: FieldError[] = [];
  if (readOnly !== true) errors.push(forbidden(at, "may only be specified when readOnly is true"));
  if (mountPropagation !== undefined && mountPropagation !== "None") {
    errors.push(forbidden(at, "may only be specified when mountPropagation is None or not specified"));
  }
  return errors;
}

export function validateDevices(container: Mounting, volumes: Volumes, at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const paths = new Set<string>();
  const mounts = container.volumeMounts ?? [];
  for (const [i, { name = "", devicePath = "" }] of (container.volumeDevices ?? []).entries()) {
    const path = at.index(i);
    errors.push(...requireText(name, path.child("name")));
    if (names.has(name)) errors.push(invalid(path.child("name"), name, "must be unique"));
    errors.push(...validateDeviceVolume(name, volumes, path.child("name")));
    errors.push(...validateDevicePath(devicePath, paths, path.child("devicePath")));
    if (mounts.some((mount) => mount.name === name)) {
      errors.push(invalid(path.child("name"), name, "must not already exist in volumeMounts"));
    }
    if (mounts.some((mount) => mount.mountPath === devicePath)) {
      errors.push(invalid(path.child("devicePath"), devicePath, "must not already exist as a path in volumeMounts"));
    }
    if (name !== "") names.add(name);
  }
  return errors;
}

function validateDeviceVolume(name: VolumeDevice["name"], volumes: Volumes, at: FieldPath): readonly FieldError[] {
  const volume = volumes.get(name);
  if (volume === undefined) return [notFound(at, name)];
  if (volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined) return [];
  return [invalid(at, name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")];
}

function validateDevicePath(path: string, seen: Set<string>, at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = path === "" ? [required(at)] : [];
  if (seen.has(path)) errors.push(invalid(at, path, "must be unique"));
  if (path.split("/").includes("..")) errors.push(invalid(at, path, "can not contain backsteps ('..')"));
  else seen.add(path);
  return errors;
}
