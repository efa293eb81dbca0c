/** What a write must agree with: the namespace of its path, the uid and the resourceVersion that it names. */
import { badRequest, conflict, field, invalidStatus, StatusError } from "#api";
import type { AnyDraft } from "../draft.ts";
import type { RestRequest } from "../rest-request.ts";
import type { Change } from "./write.ts";

/**
 * The namespace of the path counts; an object may leave it out, but not name another. Without one in the path, that of
 * the object is ignored.
 */
export function checkNamespace({ resource, namespace }: RestRequest, { metadata }: AnyDraft): void {
  if (resource.kind.scope !== "Namespaced") delete metadata.namespace;
  else if ((metadata.namespace ?? "") === "") metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}

export function checkUid({ request, old, draft }: Change): void {
  const { resource, namespace, name } = request;
  const { uid } = draft.metadata;
  if (uid === undefined || uid === "" || uid === old.metadata.uid) return;
  const { groupResource } = resource;
  const key = `/registry/${groupResource.resource}/${resource.suffix(namespace, name)}`;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`;
  throw conflict(
    groupResource,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
  );
}

/** A draft that names no resourceVersion takes the current one, where the kind allows that. */
export function checkResourceVersion({ request, old, draft }: Change): void {
  const { resource, name } = request;
  const { kind, groupResource } = resource;
  const { metadata } = draft;
  const { resourceVersion = "" } = metadata;
  const current = old.metadata.resourceVersion ?? "";
  if (resourceVersion === "") {
    if (kind.update?.allowUnconditional === false) {
      const about = { group: kind.group, kind: groupResource.resource };
      const why = "must be specified for an update";
      throw invalidStatus(about, name, [field.invalid("metadata.resourceVersion", 0, why)]);
    }
    metadata.resourceVersion = current;
    return;
  }
  if (!/^\d+$/.test(resourceVersion))
    throw new StatusError("", `strconv.ParseUint: parsing "${resourceVersion}": invalid syntax`, { code: 500 });
  if (resourceVersion !== current) throw conflict(groupResource, name);
}
