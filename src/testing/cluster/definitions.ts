/** CustomResourceDefinitions of a cluster in a test. */
import { type apiextensions, type KubeObject, kinds } from "#api";
import { applyAll, type Client, objectName } from "#client";

export const APPLYING = { fieldManager: "k8ts-testing" } as const;

/** Applies CustomResourceDefinitions, and resolves when `settle` finds them served. */
export async function installDefinitions(
  client: Client,
  objects: readonly KubeObject[],
  settle: () => Promise<void>,
): Promise<void> {
  const other = objects.find(({ kind }) => kind !== "CustomResourceDefinition");
  if (other !== undefined) throw new Error(`${objectName(other)} is no CustomResourceDefinition: name it in manifests`);
  await applyAll(client, objects, APPLYING);
  await settle();
  for (const { metadata } of objects) {
    const found = await client.of(kinds.CustomResourceDefinition).get(metadata.name ?? "");
    if (!isEstablished(found)) throw new Error(`${objectName(found)} is not served: ${conditionsOf(found)}`);
  }
}

function isEstablished({ status }: apiextensions.CustomResourceDefinition): boolean {
  return status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") === true;
}

function conditionsOf({ status }: apiextensions.CustomResourceDefinition): string {
  const texts = (status?.conditions ?? []).map(({ type, status, message }) => `${type} ${status}: ${message ?? ""}`);
  return texts.join("; ") || "it has no conditions";
}
