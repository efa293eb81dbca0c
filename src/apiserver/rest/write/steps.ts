/** The steps of a write. Their order stands in `order.ts`. A step returns a promise only if it has to wait. */
import { badRequest, generateName, type KubeObject } from "#api";
import { andThen, type Maybe } from "#base";
import type { AnyDraft } from "../draft.ts";
import { admissionAttributes, guarded, requestFacts } from "../request-parts.ts";
import type { RestRequest } from "../rest-request.ts";
import type { AdmissionAttributes } from "../server-context.ts";
import { fillIn, fillInStatus } from "./defaults.ts";
import { own } from "./ownership.ts";
import { checkNamespace, checkResourceVersion, checkUid } from "./preconditions.ts";
import {
  checkCreate,
  checkPart,
  checkStatus,
  checkUpdate,
  dedupeOwners,
  type Preparing,
  prepareCreate,
  preparePart,
  prepareStatus,
  prepareUpdate,
  shareEqualParts,
} from "./prepare.ts";
import { isStale } from "./storing.ts";
import type { Change, Proposal, Write } from "./write.ts";

export function decodeNew(write: Write): Maybe<void> {
  return proposed(write, () => {
    const { request, draft } = write;
    dropSystemFields(draft);
    checkNamespace(request, draft);
    if (request.name !== "" && (draft.metadata.name ?? "") === "") draft.metadata.name = request.name;
  });
}

/** What only the server sets is dropped before its owner is recorded. */
function dropSystemFields({ metadata }: AnyDraft): void {
  delete metadata.uid;
  delete metadata.creationTimestamp;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
}

export function decodeChange(write: Change): Maybe<void> {
  return proposed(write, ({ unchanged }) => {
    const { request, draft, current } = write;
    if (unchanged && !isStale(request, current)) {
      write.outcome = { ok: true, stored: current };
      return;
    }
    const { name } = request;
    const sent = draft.metadata.name ?? "";
    if (sent === "")
      throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
    if (sent !== name)
      throw badRequest(`the name of the object (${sent}) does not match the name on the URL (${name})`);
    checkNamespace(request, draft);
    checkUid(write);
  });
}

function proposed(write: Write, check: (proposal: Proposal) => void): Maybe<void> {
  return andThen(write.propose(), (proposal) => {
    write.draft = proposal.draft;
    write.owned = proposal.owned === true;
    write.sharesRest = proposal.sharesRest === true;
    check(proposal);
  });
}

export function fillInDefaults({ request, draft, sharesRest }: Write): void {
  if (sharesRest) fillInStatus(request.resource.kind, draft);
  else fillIn(request.resource.kind, draft);
}

/** managedFields say what the client wrote. What later steps change is nobody's, or stays with its owner. */
export function recordOwners({ request, draft, old, owned }: Write): Maybe<void> {
  if (!owned) return own(request, draft, old);
}

export function mutate(write: Write): Maybe<void> {
  const { request, draft } = write;
  return andThen(request.context.admission.mutate(attributesOf(write)), () =>
    dedupeOwners(draft, request.warn, "admitted"),
  );
}

/** Admission may have changed the namespace and the name. */
export function matchNew(write: Write): void {
  const { request, draft } = write;
  checkNamespace(request, draft);
  write.generatesName = (draft.metadata.name ?? "") === "" && (draft.metadata.generateName ?? "") !== "";
}

/** Kubernetes compares resourceVersions after admission: a webhook sees a change that then fails with a conflict. */
export function matchChange(write: Change): void {
  checkResourceVersion(write);
  checkNamespace(write.request, write.draft);
}

export function guard({ request, draft, old }: Write): Maybe<void> {
  return guarded(request, draft, old);
}

function preparing(request: RestRequest): Preparing {
  return { ...requestFacts(request), dropDisabled: request.context.disabledFields(request.resource.kind) };
}

export function prepareNew({ request, draft, generatesName }: Write): void {
  const { context, resource } = request;
  const { metadata } = draft;
  if (generatesName) metadata.name = generateName(metadata.generateName ?? "", context.random);
  prepareCreate(resource.kind, draft, context.newUid(), preparing(request));
}

export function prepareObject({ request, draft, old }: Change): void {
  prepareUpdate(request.resource.kind, draft, old, preparing(request));
}

export function prepareItsStatus({ request, draft, old }: Change): void {
  prepareStatus(request.resource.kind, draft, old, preparing(request));
}

export function prepareItsPart({ request, draft, old }: Change): void {
  preparePart(request.resource.kind, request.subresource, draft, old, preparing(request));
}

export function validateNew({ request, draft }: Write): void {
  checkCreate(request.resource.kind, draft, request.context.features);
  finish(request, draft, undefined);
}

export function validateObject({ request, draft, old }: Change): void {
  shareEqualParts(draft, old);
  checkUpdate(request.resource.kind, draft, old, request.context.features);
  finish(request, draft, old);
}

export function validateItsStatus({ request, draft, old }: Change): void {
  checkStatus(request.resource.kind, draft, old);
  finish(request, draft, old);
}

export function validateItsPart({ request, draft, old }: Change): void {
  checkPart(request.resource.kind, request.subresource, draft, old);
  finish(request, draft, old);
}

/** A valid object comes with the kind's warnings, and takes the one form that the kind has for it. */
function finish({ resource, warn }: RestRequest, draft: AnyDraft, old: KubeObject | undefined): void {
  const { kind } = resource;
  for (const warning of kind.warnings?.(draft, old) ?? []) warn(warning);
  kind.canonicalize?.(draft);
}

export function validateByAdmission(write: Write): Maybe<void> {
  return write.request.context.admission.validate(attributesOf(write));
}

function attributesOf({ request, dryRun, draft, old }: Write): AdmissionAttributes {
  return admissionAttributes(request, old === undefined ? "CREATE" : "UPDATE", dryRun, draft, old);
}
