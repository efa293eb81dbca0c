/**
 * GET of a collection, from the cache.
 *
 * 1. Without a resourceVersion a list is as new as the store; with one, at least as new; with Exact, of exactly that
 *    revision.
 * 2. All pages of a list show the state of its first page. If the cache no longer has that state, it is read from the
 *    store.
 * 3. A state that was replaced longer ago than the window of lists has expired, also where it is still kept. So has one
 *    of a former namespace of the same name.
 */
import { expired, isStatusError, type StatusError } from "#api";
import { type Entry, isStoreError, type Revision } from "#store";
import type { ObjectMap } from "../../cache/resource-cache.ts";
import { matcher, type Selection } from "../../cache/selection.ts";
import { StoredObject } from "../../cache/stored-object.ts";
import { loaded, ownForms } from "../forms.ts";
import type { RestRequest } from "../rest-request.ts";
import { storeCall } from "../store-call.ts";
import { type ContinueToken, decodeContinue, encodeContinue } from "./continue-token.ts";
import { readableSince } from "./former-namespaces.ts";
import { fresh, notOlderThan } from "./fresh.ts";
import { type ListOptions, listOptions } from "./list-options.ts";
import { pastState } from "./past-state.ts";
import { selectionOf } from "./selection.ts";

export interface ListResult {
  readonly objects: readonly StoredObject[];
  readonly revision: Revision;
  readonly continue?: string;
  readonly remaining?: number;
}

export async function list(request: RestRequest): Promise<ListResult> {
  return listSelected(request, selectionOf(request), listOptions(request.query));
}

export async function listSelected(
  request: RestRequest,
  selection: Selection,
  options: ListOptions,
): Promise<ListResult> {
  const { forms } = request.resource;
  const result = await storedList(request, selection, options);
  return forms === undefined ? result : { ...result, objects: await ownForms(forms, result.objects) };
}

/** The objects in their stored form. */
async function storedList(request: RestRequest, selection: Selection, options: ListOptions): Promise<ListResult> {
  const { context, resource } = request;
  const token = options.continue === "" ? undefined : decodeContinue(options.continue);
  if (request.asOf !== undefined && (token === undefined || token.revision === -1))
    return page(request, selection, options, { revision: request.asOf, after: token?.after ?? "" });
  if (token !== undefined && token.revision !== -1) return page(request, selection, options, token);
  if (token === undefined && options.match === "Exact" && options.resourceVersion !== undefined) {
    return page(request, selection, options, { revision: options.resourceVersion, after: "" });
  }
  await newEnough(request, options.resourceVersion);
  return slice(request, selection, options, {
    objects: resource.cache.snapshot(),
    revision: context.feed.revision,
    after: token?.after,
    whole: true,
    current: true,
  });
}

/** Waits until the cache may answer. Without a revision it has to be as new as the store. */
async function newEnough({ context, resource }: RestRequest, revision: Revision | undefined): Promise<void> {
  const { restMetrics: metrics } = context;
  const samples = metrics?.of(resource);
  const startMs = metrics?.now() ?? 0;
  let isFresh = false;
  try {
    if (revision === undefined) await fresh(context);
    else if (revision > 0) await notOlderThan(context, revision);
    isFresh = true;
  } finally {
    samples?.waits.observe(((metrics?.now() ?? 0) - startMs) / 1000);
    if (revision === undefined) samples?.readConsistently(isFresh);
  }
}

/** A page of the state at some revision. */
async function page(
  request: RestRequest,
  selection: Selection,
  options: ListOptions,
  { revision, after }: ContinueToken,
): Promise<ListResult> {
  const { context, resource } = request;
  if (request.asOf === undefined && revision < (context.oldestListed?.() ?? 0)) throw tooOld(after);
  if (await isOfFormerNamespace(request, selection, revision)) throw tooOld(after);
  const kept = context.feed.revision === revision ? resource.cache.snapshot() : resource.cache.kept(revision);
  const part = { revision, after, whole: true, current: false };
  if (kept !== undefined) return slice(request, selection, options, { ...part, objects: kept });
  await notOlderThan(context, revision);
  const objects = await stateAt(request, selection, revision, after);
  // The state of one namespace must not be kept as that of all.
  return slice(request, selection, options, {
    ...part,
    objects,
    whole: selection.namespace === undefined,
    isRead: true,
  });
}

async function isOfFormerNamespace(request: RestRequest, selection: Selection, revision: Revision): Promise<boolean> {
  try {
    return (await readableSince(request, selection, revision)) !== undefined;
  } catch (error) {
    if (isStatusError(error, "Expired")) return true;
    throw error;
  }
}

/** The objects at a revision, read from the store. */
async function stateAt(
  request: RestRequest,
  selection: Selection,
  revision: Revision,
  after: string,
): Promise<ObjectMap> {
  const { context, resource } = request;
  const prefix = resource.cache.prefix + (selection.namespace === undefined ? "" : `${selection.namespace}/`);
  try {
    const { entries } =
      request.asOf === undefined
        ? await context.store.list(prefix, { revision })
        : await pastState(context, prefix, revision);
    const empty = resource.cache.snapshot();
    empty.clear();
    for (const entry of entries as readonly Entry[])
      empty.set(entry.key.slice(resource.cache.prefix.length), new StoredObject(entry));
    return empty;
  } catch (error) {
    if (isStoreError(error, "Compacted")) throw tooOld(after);
    if (isStatusError(error)) throw error;
    return storeCall(() => Promise.reject(error));
  }
}

/** Selectors apply to the kind's own form, so all candidates are converted before they are selected. */
async function slice(
  request: RestRequest,
  selection: Selection,
  options: ListOptions,
  state: State,
): Promise<ListResult> {
  const { forms } = request.resource;
  const matches = matcher(selection);
  // Without waiting: the state may be the current one.
  if (forms === undefined || selection.matches === undefined)
    return sliceOf(request, selection, options, state, matches);
  const candidates = [...state.objects.values(rangeOf(selection, state).start)];
  await forms.load(candidates.filter((stored) => forms.known(stored) === undefined));
  return sliceOf(request, selection, options, state, (stored) => matches(loaded(forms, stored)));
}

/** The state that a page is read from. */
interface State {
  readonly objects: ObjectMap;
  readonly revision: Revision;
  readonly after: string | undefined;
  /** It has the objects of all namespaces. */
  readonly whole: boolean;
  /** It is the newest state. */
  readonly current: boolean;
  /** It was read from the store for this list. */
  readonly isRead?: boolean;
}

function rangeOf({ namespace }: Selection, { after = "" }: State) {
  const scope = namespace === undefined ? "" : `${namespace}/`;
  const range = { from: scope, ...(scope !== "" && { before: `${namespace}0` }) };
  return { scope, range, start: after === "" ? range : { ...range, after: scope + after } };
}

function sliceOf(
  { resource, context }: RestRequest,
  selection: Selection,
  { limit }: ListOptions,
  state: State,
  matches: (stored: StoredObject) => boolean,
): ListResult {
  const { objects, revision, after, whole, current, isRead = false } = state;
  const counted = (looked: number, result: ListResult): ListResult => {
    const samples = context.restMetrics?.of(resource);
    if (isRead) samples?.readStore(objects.size, result.objects.length);
    else samples?.listed(looked, result.objects.length);
    return result;
  };
  const { scope, range, start } = rangeOf(selection, state);
  const found: StoredObject[] = [];
  if (selection.name !== undefined && (selection.namespace !== undefined || resource.kind.scope === "Cluster")) {
    const one = objects.get(scope + selection.name);
    return counted(1, { objects: one !== undefined && matches(one) ? [one] : [], revision });
  }
  if (selection.matches === undefined) {
    const of = `${scope} ${limit} ${after ?? ""}`;
    const known = current ? resource.cache.lastPage(of) : undefined;
    const page = known ?? [...take(objects.values(start), limit)];
    if (current) resource.cache.rememberPage(of, page);
    const last = page.at(-1)?.key.slice(resource.cache.prefix.length) ?? "";
    const remaining = page.length === limit ? objects.count({ ...range, after: last }) : 0;
    if (remaining === 0) return counted(page.length, { objects: page, revision });
    if (whole) resource.cache.keep(revision, objects);
    return counted(page.length, {
      objects: page,
      revision,
      continue: encodeContinue({ revision, after: last.slice(scope.length) }),
      remaining,
    });
  }
  let looked = 0;
  for (const [, stored] of objects.entries(start)) {
    looked++;
    if (!matches(stored)) continue;
    if (found.length === limit) {
      if (whole) resource.cache.keep(revision, objects);
      const last = found.at(-1)?.key.slice(resource.cache.prefix.length + scope.length) ?? "";
      return counted(looked, { objects: found, revision, continue: encodeContinue({ revision, after: last }) });
    }
    found.push(stored);
  }
  return counted(looked, { objects: found, revision });
}

function* take<T>(items: Iterable<T>, limit = Number.POSITIVE_INFINITY): Generator<T> {
  let left = limit;
  for (const item of items) {
    if (left-- === 0) return;
    yield item;
  }
}

/** A page gets a token for the rest of the list, at the newest revision. */
function tooOld(after: string): StatusError {
  if (after === "") return expired("The resourceVersion for the provided list is too old.");
  const error = expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
  );
  return Object.assign(error, { continueToken: encodeContinue({ revision: -1, after }) });
}
