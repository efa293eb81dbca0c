/**
 * Every way to change an object that is there: update, the four patches, status and other parts.
 *
 *     current ──► proposed (body, or patch of current) ──► default ──► own ──► mutate ──► prepare ──► allocate ──► validate ──► store
 *        ▲                                                                                                                 │
 *        └──────────────────────────── somebody else was first: once more ◄────────────────────────────────────────────────┘
 *
 * 1. What names a resourceVersion fails with 409 if that is not the current one; what does not is tried again on the new state.
 * 2. A change that changes nothing is not stored: the resourceVersion stays. (Unless the object is kept in an outdated form.)
 */
import {
  at,
  badRequest,
  conflict,
  equalJson,
  field,
  invalidStatus,
  type Json,
  type KubeObject,
  notFound,
  StatusError,
} from "#api";
import type { StoredObject } from "../cache/stored-object.ts";
import { allocating } from "./allocating.ts";
import { createDraft, fillIn, fillInStatus, toStoredForm, unstored } from "./create.ts";
import { eraseIfFinished } from "./delete.ts";
import { own } from "./ownership.ts";
import { type Persisted, persist } from "./persist.ts";
import {
  type AnyDraft,
  checkStatus,
  checkUpdate,
  dedupeOwners,
  preparePart,
  prepareStatus,
  prepareUpdate,
  refuse,
  shareSpec,
} from "./prepare.ts";
import { fresh } from "./read.ts";
import { admissionAttributes, guarded, requestFacts } from "./request-parts.ts";
import type { RestRequest, Written } from "./rest-request.ts";

const MAX_TRIES = 10;

/** What a request makes of the current object. */
export interface Proposal {
  readonly draft: AnyDraft;
  /** managedFields have been worked out already (apply). */
  readonly owned?: boolean;
  /** All but status and metadata is the current object's own: see `fillInStatus`. */
  readonly sharesRest?: boolean;
  /** Nothing to do: the object stays as it is. */
  readonly unchanged?: boolean;
}

export interface ChangeOptions {
  readonly dryRun: boolean;
  /** Called again for each try. `current` is undefined where a write may create. */
  propose(current: KubeObject | undefined): Proposal | Promise<Proposal>;
  /** What is not there is created. */
  readonly mayCreate?: boolean;
}

export async function change(request: RestRequest, options: ChangeOptions): Promise<Written> {
  const { resource, namespace, name } = request;
  const suffix = resource.suffix(namespace, name);
  // What is not found, in conflict or unchanged must be so in the store, not only in a cache that lags behind another server's writes.
  await fresh(request.context);
  let current = await resource.get(suffix);
  for (let tries = 1; ; tries++) {
    if (current === undefined) {
      if (options.mayCreate !== true) throw notFound(resource.groupResource, name);
      await request.context.access.mayCreate(request);
      const { draft, owned } = await options.propose(undefined);
      return createDraft(request, draft, options.dryRun, owned);
    }
    const old = resource.read(current);
    const proposal = await options.propose(old);
    if (proposal.unchanged && !isStale(request, current)) return { created: false, stored: current };
    const { draft } = proposal;
    if ((draft.metadata.name ?? "") === "") {
      throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
    }
    dedupeOwners(draft, request.warn);
    checkPreconditions(request, draft, old);
    await prepare(request, proposal, old, options.dryRun);
    const outcome = await writeChange(request, suffix, draft, current, options.dryRun);
    if (outcome.ok) return { created: false, stored: outcome.stored };
    if (tries === MAX_TRIES) throw conflict(resource.groupResource, name);
    current = outcome.current;
  }
}

function writeChange(
  request: RestRequest,
  suffix: string,
  draft: AnyDraft,
  current: StoredObject,
  dryRun: boolean,
): Promise<Persisted> {
  const { context, resource } = request;
  const old = resource.read(current);
  return allocating(request, draft, old, dryRun, async (stored) => {
    await check(request, draft, old, dryRun);
    if (isSame(draft, old) && !isStale(request, current)) return { ok: true, stored: current };
    if (dryRun) return { ok: true, stored: dryRunResult(resource.cache.prefix + suffix, request, draft, current) };
    const finished = await eraseIfFinished(request, suffix, draft, current);
    if (finished !== undefined) return { ok: true, stored: finished };
    const outcome = await persist(context, resource, suffix, draft, current.revision, request.witness);
    if (outcome.ok) stored();
    return outcome;
  });
}

async function prepare(
  request: RestRequest,
  { draft, owned = false, sharesRest = false }: Proposal,
  old: KubeObject,
  dryRun: boolean,
): Promise<void> {
  const { context, resource, subresource } = request;
  const { kind } = resource;
  const resourceVersion = old.metadata.resourceVersion;
  const facts = requestFacts(request);
  if (sharesRest) fillInStatus(kind, draft);
  else fillIn(kind, draft);
  // Nobody gains or loses what a write of the status cannot change: it need not be compared.
  if (subresource === "status") shareSpec(draft, old);
  const owning = owned ? undefined : own(request, draft, old);
  if (owning !== undefined) await owning;
  if (subresource === "status") prepareStatus(kind, draft, old, facts);
  else if (subresource === "") prepareUpdate(kind, draft, old, facts);
  else preparePart(kind, subresource, draft, old, facts);
  draft.metadata.resourceVersion = resourceVersion ?? "";
  const mutating = context.admission.mutate(admissionAttributes(request, "UPDATE", dryRun, draft, old));
  if (mutating !== undefined) await mutating;
  const guarding = guarded(request, draft, old);
  if (guarding !== undefined) await guarding;
}

async function check(request: RestRequest, draft: AnyDraft, old: KubeObject, dryRun: boolean): Promise<void> {
  const { context, resource, subresource } = request;
  const { kind } = resource;
  if (subresource === "status") checkStatus(kind, draft, old);
  else if (subresource === "") checkUpdate(kind, draft, old);
  else refuse(kind, draft, kind.subresources?.parts?.[subresource]?.validate?.(draft, old, at()) ?? []);
  const validating = context.admission.validate(admissionAttributes(request, "UPDATE", dryRun, draft, old));
  if (validating !== undefined) await validating;
  for (const warning of kind.warnings?.(draft, old) ?? []) request.warn(warning);
  toStoredForm(kind, draft);
}

function checkPreconditions({ resource, name, namespace }: RestRequest, draft: AnyDraft, old: KubeObject): void {
  const { kind, groupResource } = resource;
  const { metadata } = draft;
  if (kind.scope === "Namespaced" && (metadata.namespace ?? "") === "") metadata.namespace = namespace;
  if (metadata.uid !== undefined && metadata.uid !== "" && metadata.uid !== old.metadata.uid) {
    const key = `/registry/${groupResource.resource}/${resource.suffix(namespace, name)}`;
    const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${old.metadata.uid}`;
    throw conflict(
      groupResource,
      name,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
    );
  }
  const asked = metadata.resourceVersion ?? "";
  if (asked === "") {
    if (kind.update?.allowUnconditional !== false) return;
    const about = { group: kind.group, kind: groupResource.resource };
    throw invalidStatus(about, name, [field.invalid("metadata.resourceVersion", 0, "must be specified for an update")]);
  }
  if (!/^\d+$/.test(asked)) {
    throw new StatusError("", `strconv.ParseUint: parsing "${asked}": invalid syntax`, { code: 500 });
  }
  if (asked !== old.metadata.resourceVersion) throw conflict(groupResource, name);
}

/** Kept in a form, or encrypted in a way, in which nothing is written any more: a write that changes nothing else changes that. */
function isStale({ context, resource }: RestRequest, current: StoredObject): boolean {
  return resource.forms?.isStale(current) === true || context.isOutdated?.(current.key) === true;
}

function isSame(draft: AnyDraft, old: KubeObject): boolean {
  return equalJson(draft as unknown as Json, old as unknown as Json);
}

function dryRunResult(key: string, { resource }: RestRequest, draft: AnyDraft, current: StoredObject): StoredObject {
  return unstored(key, resource.toStored(draft)).asOf(current.revision);
}
