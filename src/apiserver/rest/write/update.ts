/** PUT: the whole object, to itself or to one of its subresources. */
import { badRequest, cloneDraft } from "#api";
import { decodeSent } from "../body.ts";
import { writeOptions } from "../options.ts";
import type { RestRequest, Written } from "../rest-request.ts";
import { change } from "./change.ts";
import { dedupeOwners } from "./prepare.ts";

export async function update(request: RestRequest): Promise<Written> {
  const { resource, query, warn } = request;
  const options = writeOptions("UpdateOptions", query);
  const { draft, warnings } = await decodeSent(request, resource.kind, options.fieldValidation, warn);
  for (const warning of warnings) warn(warning);
  request.received?.(draft, resource.kind);
  checkPlace(request, draft.metadata);
  dedupeOwners(draft, warn, "sent");
  return change(request, {
    dryRun: options.dryRun,
    mayCreate: request.subresource === "" && resource.kind.update?.allowCreate === true,
    // The steps change the draft in place: each try starts from what was sent.
    propose: () => ({ draft: cloneDraft(draft) }),
  });
}

/** Name and namespace of an object must be those of the path; it may leave out the namespace. */
export function checkPlace({ resource, name, namespace }: RestRequest, metadata: Metadata): void {
  if (resource.kind.scope === "Namespaced" && (metadata.namespace ?? "") !== "" && metadata.namespace !== namespace)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  if ((metadata.name ?? "") === "")
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (metadata.name !== name)
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
}

type Metadata = { readonly name?: string; readonly namespace?: string };
