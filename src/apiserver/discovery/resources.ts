/** The discovery entries of a kind, in the older and in the aggregated form: pure, from the Kind value alone. */
import { createHash } from "node:crypto";
import { type JsonObject, type Kind, keyOf, type ServedSubresource, storageVersionHash } from "#api";
import type { ServedVersion } from "./served-version.ts";

/** Kinds whose storage version in Kubernetes is not the one here; clients compare the hashes of these names. */
const KEPT_IN: ReadonlyMap<string, { readonly group: string; readonly version: string }> = new Map([
  ...["v1", "v1beta1", "v1alpha1"].flatMap((version) =>
    ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"].map(
      (kind) =>
        [
          `admissionregistration.k8s.io/${version}/${kind}`,
          { group: "admissionregistration.k8s.io", version: "v1beta1" },
        ] as const,
    ),
  ),
  ["apiextensions.k8s.io/v1/CustomResourceDefinition", { group: "apiextensions.k8s.io", version: "v1beta1" }],
  ["autoscaling/v1/HorizontalPodAutoscaler", { group: "autoscaling", version: "v2" }],
  ["events.k8s.io/v1/Event", { group: "", version: "v1" }],
]);

/** The kind, then its subresources: items of an APIResourceList. `keptIn`: its storage version, if that is another. */
export function apiResources(kind: Kind, keptIn?: string): JsonObject[] {
  const { plural, singular, shortNames = [], categories = [] } = kind.names;
  const namespaced = kind.scope === "Namespaced";
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind: kind.kind,
      verbs: kind.verbs,
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
      ...storageHash(kind, keptIn),
    },
    ...kind.served.map((sub) => ({
      name: `${plural}/${sub.name}`,
      singularName: "",
      namespaced,
      ...(isAtHome(sub, kind) ? {} : { group: sub.group, version: sub.version }),
      kind: sub.kind,
      verbs: sub.verbs,
    })),
  ];
}

/** One version of an APIGroupDiscovery. */
export function versionDiscovery({ version, kinds, custom = false, remote }: ServedVersion): JsonObject {
  const resources = remote?.resources ?? kinds.map((kind) => resourceDiscovery(kind, custom));
  return {
    version,
    ...(remote === undefined || resources.length > 0 ? { resources } : {}),
    freshness: remote === undefined || remote.fresh ? "Current" : "Stale",
  };
}

function resourceDiscovery(kind: Kind, custom: boolean): JsonObject {
  const { plural, singular, shortNames = [], categories = [] } = kind.names;
  return {
    resource: plural,
    responseKind: responseKind(kind, kind, custom),
    scope: kind.scope,
    singularResource: singular,
    verbs: kind.verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(kind.served.length > 0
      ? {
          subresources: kind.served.map((sub) => ({
            subresource: sub.name,
            responseKind: responseKind(sub, kind, custom),
            verbs: sub.verbs,
          })),
        }
      : {}),
  };
}

/** Built-in kinds leave out the group and version that they are served under; custom ones repeat it. */
function responseKind(answer: Kind | ServedSubresource, home: Kind, custom: boolean): JsonObject {
  const silent = !custom && isAtHome(answer, home);
  return {
    group: silent ? "" : answer.group,
    version: silent ? "" : answer.version,
    kind: answer.kind,
  };
}

/** Reviews, bindings and component statuses are not stored, so they have no hash. */
function storageHash(kind: Kind, keptIn: string | undefined): JsonObject {
  const custom = keptIn && { group: kind.group, version: keptIn };
  if (!custom && (!kind.verbs.includes("create") || !kind.verbs.includes("get"))) return {};
  const { group, version } = custom || (KEPT_IN.get(keyOf(kind)) ?? kind.storedAs ?? kind);
  return { storageVersionHash: storageVersionHash({ group, version }, kind.kind, sha256) };
}

function isAtHome(it: Kind | ServedSubresource, home: Kind): boolean {
  return it.group === home.group && it.version === home.version;
}

function sha256(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
