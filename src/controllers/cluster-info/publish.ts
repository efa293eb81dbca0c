/**
 * Publishes cluster-info once at each start, as an administrator: no controller may create roles.
 *
 * 1. An unchanged object is not written again; signatures stay.
 */
import { kinds } from "#api";
import { type Client, createUnlessThere } from "#client";
import { type ClusterAddress, CONTENT, clusterInfo, NAME, NAMESPACE, readers } from "./cluster-info.ts";

export async function publishClusterInfo(client: Client, address: ClusterAddress, signal?: AbortSignal): Promise<void> {
  const options = { signal };
  const infos = client.of(kinds.ConfigMap).in(NAMESPACE);
  const wanted = clusterInfo(address);
  const { role, binding } = readers();
  await createUnlessThere(client.of(kinds.Role).in(NAMESPACE), role, options);
  await createUnlessThere(client.of(kinds.RoleBinding).in(NAMESPACE), binding, options);
  if (await createUnlessThere(infos, wanted, options)) return;
  const content = wanted.data?.[CONTENT] ?? "";
  const found = await infos.get(NAME, options);
  if (found.data?.[CONTENT] === content) return;
  await infos.patch(NAME, { type: "merge", object: { data: { [CONTENT]: content } } }, options);
}
