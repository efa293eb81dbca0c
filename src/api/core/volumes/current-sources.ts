/** Volume sources of pods and of volumes that are in use today. */
import { oneOf, requireText } from "../../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid, required, tooLong } from "../../machinery/errors/field-error.ts";
import { checkDns1123Subdomain } from "../../machinery/names/names.ts";
import type { HostPathVolumeSource, NFSVolumeSource } from "../../types/core-v1.ts";

const hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];
const longestDriverName = 63;

export function validateHostPath({ path, type }: HostPathVolumeSource, at: FieldPath): readonly FieldError[] {
  if (!path) return [required(at.child("path"))];
  return [...validateNoBacksteps(path, at.child("path")), ...oneOf(type, hostPathTypes, at.child("type"))];
}

export function validateNfs({ server, path }: NFSVolumeSource, at: FieldPath): readonly FieldError[] {
  const errors = [...requireText(server, at.child("server")), ...requireText(path, at.child("path"))];
  if (!(path ?? "").startsWith("/")) errors.push(invalid(at.child("path"), path ?? "", "must be an absolute path"));
  return errors;
}

/** The name of a driver is a DNS subdomain, case-insensitive. */
export function csiDriverNameFaults(name: string, at: FieldPath): readonly FieldError[] {
  if (!name) return [required(at)];
  return [
    ...(name.length > longestDriverName ? [tooLong(at, longestDriverName)] : []),
    ...checkDns1123Subdomain(name.toLowerCase()).map((why) => invalid(at, name, why)),
  ];
}

export function validateNoBacksteps(path: string, where: FieldPath): readonly FieldError[] {
  return path.split("/").includes("..") ? [invalid(where, path, "must not contain '..'")] : [];
}
