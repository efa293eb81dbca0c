/**
 * create = decode → default → own → mutate (admission) → guard → prepare → allocate → validate (kind) → validate (admission) → store.
 */
import {
  alreadyExists,
  applySchemaDefaults,
  applyStoredForm,
  badRequest,
  generateName,
  generateNameConflict,
  type Kind,
} from "#api";
import { encodeForStore, StoredObject } from "../cache/stored-object.ts";
import { allocating } from "./allocating.ts";
import { decodeSent } from "./body.ts";
import { writeOptions } from "./options.ts";
import { own } from "./ownership.ts";
import { persist } from "./persist.ts";
import { type AnyDraft, checkCreate, dedupeOwners, prepareCreate } from "./prepare.ts";
import { admissionAttributes, guarded, requestFacts } from "./request-parts.ts";
import type { RestRequest, Written } from "./rest-request.ts";

const NAME_TRIES = 8;

export async function create(request: RestRequest): Promise<Written> {
  const { resource, query, warn } = request;
  const options = writeOptions("CreateOptions", query);
  const { draft, warnings } = await decodeSent(request, resource.kind, options.fieldValidation, warn);
  for (const warning of warnings) warn(warning);
  request.received?.(draft, resource.kind);
  return createDraft(request, draft, options.dryRun);
}

/** From a decoded draft on: also how an update or an apply creates what is not there. `owned`: its managedFields have been worked out. */
export async function createDraft(
  request: RestRequest,
  draft: AnyDraft,
  dryRun: boolean,
  owned = false,
): Promise<Written> {
  const { context, resource } = request;
  const { kind } = resource;
  place(request, draft);
  dedupeOwners(draft, request.warn);
  fillIn(kind, draft);
  // Most steps have nothing to wait for, and a turn costs more than some of them.
  const owning = owned ? undefined : own(request, draft, undefined);
  if (owning !== undefined) await owning;
  const mutating = context.admission.mutate(admissionAttributes(request, "CREATE", dryRun, draft));
  if (mutating !== undefined) {
    await mutating;
    // The code of others may have moved it.
    place(request, draft);
  }
  const guarding = guarded(request, draft);
  if (guarding !== undefined) await guarding;

  const generated = (draft.metadata.name ?? "") === "" && (draft.metadata.generateName ?? "") !== "";
  for (let tries = 1; ; tries++) {
    if (generated) draft.metadata.name = generateName(draft.metadata.generateName ?? "", context.random);
    prepareCreate(kind, draft, context.newUid(), requestFacts(request));
    const written = await allocating(
      request,
      draft,
      undefined,
      dryRun,
      async (stored): Promise<Written | undefined> => {
        checkCreate(kind, draft);
        const validating = context.admission.validate(admissionAttributes(request, "CREATE", dryRun, draft));
        if (validating !== undefined) await validating;
        for (const warning of kind.warnings?.(draft, undefined) ?? []) request.warn(warning);
        toStoredForm(kind, draft);

        const name = draft.metadata.name ?? "";
        const suffix = resource.suffix(request.namespace, name);
        if (dryRun) {
          if (resource.cache.get(suffix) !== undefined) throw alreadyExists(resource.groupResource, name);
          return { created: true, stored: unstored(resource.cache.prefix + suffix, resource.toStored(draft)) };
        }
        const outcome = await persist(context, resource, suffix, draft, undefined, request.witness);
        if (outcome.ok) {
          stored();
          return { created: true, stored: outcome.stored };
        }
        if (!generated) throw alreadyExists(resource.groupResource, name);
        if (tries === NAME_TRIES) throw generateNameConflict(resource.groupResource, name, 1);
        return undefined;
      },
    );
    if (written !== undefined) return written;
  }
}

/** Every default that a kind has, in a decoded draft. */
export function fillIn(kind: Kind, draft: AnyDraft): void {
  applySchemaDefaults(kind.schema, draft as unknown as Parameters<typeof applySchemaDefaults>[1]);
  kind.defaults?.(draft);
}

/** As `fillIn`, where all but status and metadata is as it is stored, and shared: it has its defaults, and may not be changed. */
export function fillInStatus(kind: Kind, draft: AnyDraft): void {
  const { metadata, status } = draft;
  const alone = { metadata, ...(status !== undefined && { status }) } as AnyDraft;
  applySchemaDefaults(kind.schema, alone as unknown as Parameters<typeof applySchemaDefaults>[1]);
  if (alone.status !== undefined) draft.status = alone.status;
  const rules = kind.subresources?.status;
  if (typeof rules === "object") rules.fill?.(draft);
}

/** The last changes before an object is stored: its kind's one form, and what the store does not tell apart. */
export function toStoredForm(kind: Kind, draft: AnyDraft): void {
  kind.canonicalize?.(draft);
  applyStoredForm(kind.schema, draft as unknown as Parameters<typeof applyStoredForm>[1]);
}

/** The object as a dry run shows it: it has no revision. */
export function unstored(key: string, object: ReturnType<RestRequest["resource"]["toStored"]>): StoredObject {
  return new StoredObject({ key, value: encodeForStore(object), revision: 0 }, object);
}

/** The namespace of the path counts; an object may leave it out, but not say another. */
function place({ resource, namespace, name }: RestRequest, draft: AnyDraft): void {
  const { metadata } = draft;
  if (resource.kind.scope === "Namespaced") {
    if ((metadata.namespace ?? "") === "") metadata.namespace = namespace;
    else if (metadata.namespace !== namespace) {
      throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
    }
  }
  if (name !== "" && (metadata.name ?? "") === "") metadata.name = name;
}
