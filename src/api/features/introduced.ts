/**
 * Kinds that are newer than the oldest version that can be emulated: discovery and OpenAPI of an older version do not
 * show them. A line is a version of a group, or a kind in it, and the minor version that introduced it.
 */
import { apiVersionOf, type Kind } from "../machinery/kind.ts";
import { isOlder, type Version } from "./version.ts";

const table = `
admissionregistration.k8s.io/v1/MutatingAdmissionPolicy 36
admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding 36
resource.k8s.io/v1 34
storage.k8s.io/v1/VolumeAttributesClass 34
`;

const introduced: ReadonlyMap<string, Version> = new Map(
  table
    .trim()
    .split("\n")
    .map((line) => line.split(" "))
    .map(([key = "", minor]) => [key, { major: 1, minor: Number(minor) }]),
);

/** The kinds that a server of this version shows. */
export function shownAt(kinds: readonly Kind[], version: Version): readonly Kind[] {
  return kinds.filter((kind) => {
    const apiVersion = apiVersionOf(kind);
    const since = introduced.get(`${apiVersion}/${kind.kind}`) ?? introduced.get(apiVersion);
    return since === undefined || !isOlder(version, since);
  });
}
