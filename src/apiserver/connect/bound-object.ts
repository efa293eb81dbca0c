/** The object that a token is bound to: the token is valid as long as that exists. */
import { type authentication, badRequest, conflict, type JsonObject, type KubeObject, notFound } from "#api";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";

export type Bound = { readonly [kind in "pod" | "node" | "secret"]?: JsonObject };

/** The claims about the object that the token is bound to, and about the node of a pod. */
export function boundTo(
  namespace: string,
  account: string,
  resources: Resources,
  ref: authentication.BoundObjectReference | undefined,
): Bound {
  // Kubernetes always writes it: null if the client leaves it out.
  if (!ref) return {};
  const { apiVersion = "", kind = "", name = "", uid = "" } = ref;
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  if (group !== "" || (kind !== "Pod" && kind !== "Node" && kind !== "Secret")) {
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const object = find(resources.find("", "v1", `${kind.toLowerCase()}s`), namespace, name);
  if (kind === "Pod") checkAccount(object, account);
  if (uid !== "" && uid !== object.metadata.uid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: "", resource: kind }, name, why);
  }
  if (kind !== "Pod") return { [kind.toLowerCase()]: reference(object) };
  const { spec: { nodeName = "" } = {} } = object as KubeObject & { spec?: { nodeName?: string } };
  if (nodeName === "") return { pod: reference(object) };
  const node = resources.find("", "v1", "nodes")?.cache.get(nodeName)?.object;
  // A node that does not exist is named nevertheless: the claim says where the pod is.
  return { pod: reference(object), node: node === undefined ? { name: nodeName } : reference(node) };
}

export function reference({ metadata }: KubeObject): JsonObject {
  return { name: metadata.name ?? "", uid: metadata.uid ?? "" };
}

function checkAccount(pod: KubeObject, account: string): void {
  const { spec } = pod as KubeObject & { spec?: { serviceAccountName?: string } };
  if (spec?.serviceAccountName === account) return;
  throw badRequest(
    `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
  );
}

function find(resource: Resource | undefined, namespace: string, name: string): KubeObject {
  const stored = resource?.cache.get(resource.suffix(namespace, name));
  if (resource === undefined || stored === undefined)
    throw notFound(resource?.groupResource ?? { group: "", resource: "" }, name);
  return resource.read(stored);
}
