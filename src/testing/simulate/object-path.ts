/** What a path of the API is about. */
export interface ObjectPath {
  /** `apps/deployments`, `pods`; empty for paths that name no resource. */
  readonly resource: string;
  readonly namespace: string;
  /** Empty: the whole collection. */
  readonly name: string;
  readonly subresource: string;
}

const NOTHING: ObjectPath = { resource: "", namespace: "", name: "", subresource: "" };

export function objectPath(path: string): ObjectPath {
  const parts = path.split("/").slice(1);
  const isCore = parts[0] === "api";
  if (!isCore && parts[0] !== "apis") return NOTHING;
  const group = isCore ? "" : (parts[1] ?? "");
  const rest = parts.slice(isCore ? 2 : 3);
  if (rest.length === 0) return NOTHING;
  const inNamespace = rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "finalize" && rest[2] !== "status";
  const [namespace = "", [plural = "", name = "", subresource = ""]] = inNamespace
    ? [rest[1], rest.slice(2)]
    : ["", rest];
  return { resource: group === "" ? plural : `${group}/${plural}`, namespace, name, subresource };
}
