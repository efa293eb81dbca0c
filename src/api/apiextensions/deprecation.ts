/** What is told to who uses a deprecated version: its definition's own words, or which version to use instead. */
import type { CustomResourceDefinitionSpec, CustomResourceDefinitionVersion } from "../types/apiextensions-v1.ts";
import { compareVersions } from "./version-order.ts";

export function deprecationOf(
  { group, names, versions }: CustomResourceDefinitionSpec,
  { name, deprecated, deprecationWarning }: CustomResourceDefinitionVersion,
): string | undefined {
  if (deprecated !== true) return undefined;
  if (deprecationWarning !== undefined) return deprecationWarning;
  const words = `${group}/${name} ${names.kind} is deprecated`;
  const [newest] = versions
    .filter((other) => other.served && other.deprecated !== true && compareVersions(name, other.name) < 0)
    .map((other) => other.name)
    .sort((a, b) => compareVersions(b, a));
  return newest === undefined ? words : `${words}; use ${group}/${newest} ${names.kind}`;
}
