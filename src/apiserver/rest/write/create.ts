/** POST: decode the body, then run the steps of `order.ts`. */
import { alreadyExists, generateNameConflict } from "#api";
import type { Maybe } from "#base";
import { decodeSent } from "../body.ts";
import type { AnyDraft } from "../draft.ts";
import { writeOptions } from "../options.ts";
import type { RestRequest, Written } from "../rest-request.ts";
import { stepsFromPrepare, writeSteps } from "./order.ts";
import { dedupeOwners, wipeSystemFields } from "./prepare.ts";
import { newWrite, type Proposal, run } from "./write.ts";

const NAME_TRIES = 8;

export async function create(request: RestRequest): Promise<Written> {
  const { resource, query, warn } = request;
  const options = writeOptions("CreateOptions", query);
  const { draft, warnings } = await decodeSent(request, resource.kind, options.fieldValidation, warn);
  for (const warning of warnings) warn(warning);
  request.received?.(draft, resource.kind);
  wipeSystemFields(draft);
  dedupeOwners(draft, warn, "sent");
  return createDraft(request, draft, options.dryRun);
}

/** From a decoded draft on. */
export function createDraft(request: RestRequest, draft: AnyDraft, dryRun: boolean): Promise<Written> {
  return createFrom(request, () => ({ draft }), dryRun);
}

/** Also how an update or an apply creates what does not exist. */
export async function createFrom(
  request: RestRequest,
  propose: () => Maybe<Proposal>,
  dryRun: boolean,
): Promise<Written> {
  const { groupResource } = request.resource;
  const write = newWrite(request, { propose, dryRun });
  let outcome = await run(write, writeSteps.create);
  for (let tries = 1; !outcome.ok; tries++) {
    const name = write.draft.metadata.name ?? "";
    if (!write.generatesName) throw alreadyExists(groupResource, name);
    if (tries === NAME_TRIES) throw generateNameConflict(groupResource, name, 1);
    outcome = await run(write, stepsFromPrepare);
  }
  return { created: true, stored: outcome.stored };
}
