/**
 * From a resource request to the function that answers it. No kind is known by name here: the Kind says what is served,
 * and how.
 */

import { type JsonObject, methodNotSupported, notFound, type StatusError, serverResponse } from "#api";
import { andThen } from "#base";
import type { Revision } from "#store";
import type { Connectors } from "../connect/index.ts";
import { type AnswerContext, answerList, answerObject, answerValue } from "../encode/answers.ts";
import { negotiate } from "../encode/negotiate.ts";
import type { Answering, ApiRequest, ApiResponse } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { ANONYMOUS } from "../identity/user.ts";
import { returnsDeletedObject } from "../openapi/index.ts";
import { type AsOf, AT, asOf, demandRead, type Past, refused } from "../past/index.ts";
import type { LargeBodies } from "../rest/body-form.ts";
import { fresh } from "../rest/read/fresh.ts";
import { get } from "../rest/read/get.ts";
import { list } from "../rest/read/list.ts";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { RestRequest, Written } from "../rest/rest-request.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { create } from "../rest/write/create.ts";
import { deleteOne } from "../rest/write/delete.ts";
import { deleteCollection } from "../rest/write/delete-collection.ts";
import { patch } from "../rest/write/patch.ts";
import { getScale, patchScale, updateScale } from "../rest/write/scale.ts";
import { update } from "../rest/write/update.ts";
import { type WatchSettings, watch } from "../watch/watch.ts";
import { demandPast, type PastAccess } from "./past-access.ts";

const MAX_BODY_BYTES = 3 * 1024 * 1024;

export interface Dispatch {
  readonly context: ServerContext;
  readonly resources: Resources;
  /** Waits for a custom resource that another server has just established. */
  appearing?(group: string, plural: string): Promise<void>;
  /** Ends watches. */
  readonly stopping: AbortSignal;
  readonly watches?: Omit<WatchSettings, "stopping"> | undefined;
  /** Answers that are not stored: reviews, eviction, log, exec … */
  readonly connectors: Connectors;
  /** Absent: all writes run here. */
  readonly heavy?: HeavyWrites | undefined;
  /** Earlier states, and who may read them. Absent: they cannot be read. */
  readonly past?: (Past & Pick<PastAccess, "authorize">) | undefined;
}

/** Writes that are so large that they would hold the serving thread run elsewhere; other bodies are decoded there. */
export interface HeavyWrites extends LargeBodies {
  /**
   * Undefined: the write is small. `declared`: the length of its body, as its header says. `plain` runs it here, where
   * only its body tells.
   */
  take(
    verb: "create" | "update" | "patch",
    request: RestRequest,
    declared: string | undefined,
    answer: AnswerContext,
    plain: (request: RestRequest) => Promise<ApiResponse>,
  ): Promise<ApiResponse> | undefined;
}

/** What verbs report besides their answer. */
export type Remarks = Pick<RestRequest, "warn" | "annotate" | "received" | "witness" | "life">;

export function dispatch(request: ApiRequest, info: RequestInfo, server: Dispatch, remarks: Remarks): Answering {
  const resource = server.resources.find(info.apiGroup, info.apiVersion, info.resource);
  if (resource === undefined) throw serverResponse(404);
  const text = request.query.size === 0 ? null : request.query.get(AT);
  if (text === null) return answer(request, info, server, remarks, resource);
  return pastOf(text, request, info, server).then((past) => answer(request, info, server, remarks, resource, past));
}

function answer(
  request: ApiRequest,
  info: RequestInfo,
  server: Dispatch,
  remarks: Remarks,
  resource: Resource,
  past?: AsOf,
): Answering {
  const rest = restRequest(request, info, resource, server, remarks, past?.revision);
  if (info.subresource !== "") return subresource(rest, request, info, server);
  checkScope(resource, info);
  if (!(resource.kind.verbs as readonly string[]).includes(info.verb)) throw notAllowed(resource, info);
  if (resource.kind.deprecated !== undefined) rest.warn(resource.kind.deprecated);
  const virtual = server.connectors.virtual.get(`${info.apiGroup}/${info.resource}`);
  if (virtual !== undefined) {
    if (past !== undefined) throw refused(`${info.resource} are not kept, and have no past`);
    return virtual(rest, request);
  }
  const context = answerContext(rest, request, info, past?.atMs);
  return info.verb === "get" ? answerGet(rest, context) : answerVerb(rest, context, request, info, server);
}

function answerGet(rest: RestRequest, context: AnswerContext): Answering {
  return andThen(get(rest), (stored) => answerObject(200, stored, context));
}

async function answerVerb(
  rest: RestRequest,
  answer: AnswerContext,
  request: ApiRequest,
  info: RequestInfo,
  server: Dispatch,
): Promise<ApiResponse> {
  switch (info.verb) {
    case "list":
      return answerList(await list(rest), answer);
    case "watch":
      return watch(rest, answer, { ...server.watches, stopping: server.stopping });
    case "create":
      if (info.name !== "") throw serverResponse(405);
      return write("create", rest, request, answer, server);
    case "update":
      if (info.name === "") throw serverResponse(405);
      return write("update", rest, request, answer, server);
    case "patch":
      if (info.name === "") throw serverResponse(405);
      return write("patch", rest, request, answer, server);
    case "delete": {
      const { stored, gone } = await deleteOne(rest);
      if (!gone || returnsDeletedObject(rest.resource.kind)) return answerObject(200, stored, answer);
      return answerValue(200, deletedStatus(rest.resource, stored.object.metadata), undefined, answer.format);
    }
    case "deletecollection":
      return answerList(await deleteCollection(rest), answer);
    default:
      throw serverResponse(405);
  }
}

/** The revision that the request wants to read. Throws for requests that cannot, or may not, read the past. */
async function pastOf(text: string, request: ApiRequest, info: RequestInfo, server: Dispatch): Promise<AsOf> {
  demandRead(info);
  const { context, resources, past } = server;
  if (past === undefined) throw refused("this server keeps no past");
  await fresh(context);
  const wanted = asOf(text, past, context.feed.revision, context.clock);
  const { authorize } = past;
  await demandPast(request.user ?? ANONYMOUS, info, wanted.revision, { authorize, context, resources });
  return wanted;
}

async function subresource(
  rest: RestRequest,
  request: ApiRequest,
  info: RequestInfo,
  server: Dispatch,
): Promise<ApiResponse> {
  const { resource } = rest;
  const served = resource.kind.served.find(({ name }) => name === info.subresource);
  if (served === undefined) throw isTyped(resource) ? serverResponse(404) : notFound(resource.groupResource, info.name);
  if (resource.kind.deprecated !== undefined) rest.warn(resource.kind.deprecated);
  // A proxy passes on every method; OPTIONS has no verb.
  const passes = info.subresource === "proxy" && request.method === "OPTIONS";
  if (!passes && !(served.verbs as readonly string[]).includes(info.verb)) throw notAllowed(resource, info);
  const connector = server.connectors.subresources.get(`${info.resource}/${info.subresource}`);
  if (connector !== undefined) return connector(rest, request);
  const answer = answerContext(rest, request, info);
  if (info.subresource === "scale") return answerValue(200, await scale(rest, info.verb), undefined, answer.format);
  if (info.subresource !== "status" && resource.kind.subresources?.parts?.[info.subresource] === undefined)
    throw serverResponse(404);
  switch (info.verb) {
    case "get":
      return answerObject(200, await get(rest), answer);
    case "update":
      return write("update", rest, request, answer, server);
    case "patch":
      return write("patch", rest, request, answer, server);
    default:
      throw serverResponse(405);
  }
}

function scale(rest: RestRequest, verb: string): Promise<JsonObject> {
  if (verb === "get") return getScale(rest);
  return verb === "update" ? updateScale(rest) : patchScale(rest);
}

const WRITES = { create, update, patch };

function write(
  verb: keyof typeof WRITES,
  rest: RestRequest,
  { headers }: ApiRequest,
  answer: AnswerContext,
  { heavy }: Dispatch,
): Promise<ApiResponse> {
  const plain = async (request: RestRequest) => written(await WRITES[verb](request), answer);
  return heavy?.take(verb, rest, headers["content-length"], answer, plain) ?? plain(rest);
}

function written({ created, stored }: Written, answer: AnswerContext): ApiResponse {
  return answerObject(created ? 201 : 200, stored, answer);
}

function answerContext(
  { resource, query, context }: RestRequest,
  request: ApiRequest,
  info: RequestInfo,
  now = context.clock.now(),
): AnswerContext {
  const streams = info.verb === "list" || info.verb === "watch";
  const protobuf = isTyped(resource) || info.subresource === "scale";
  const format = negotiate(request.headers.accept, query, streams, protobuf, servesCbor(context));
  return { resource, query, now, format };
}

function restRequest(
  request: ApiRequest,
  info: RequestInfo,
  resource: Resource,
  { context, heavy }: Dispatch,
  { warn, annotate, received, witness, life }: Remarks,
  asOf: Revision | undefined,
): RestRequest {
  const isNamespace = resource.kind.scope === "Cluster";
  return {
    context,
    resource,
    namespace: isNamespace ? "" : info.namespace,
    name: info.name,
    subresource: info.subresource,
    user: request.user ?? ANONYMOUS,
    userAgent: request.headers["user-agent"],
    query: request.query,
    asOf,
    contentType: request.headers["content-type"],
    cbor: servesCbor(context),
    body: life === undefined ? () => request.body(MAX_BODY_BYTES) : () => measuredBody(request, life),
    value: request.value,
    largeBodies: heavy,
    warn,
    annotate,
    received,
    witness,
    life,
  };
}

function servesCbor({ features }: ServerContext): boolean {
  return features.enabled("CBORServingAndStorage");
}

async function measuredBody(request: ApiRequest, life: NonNullable<Remarks["life"]>): Promise<Buffer> {
  const body = await request.body(MAX_BODY_BYTES);
  life.bodyBytes = body.length;
  return body;
}

/** Namespaced resources need a namespace in the path, others must not have one. */
function checkScope(resource: Resource, info: RequestInfo): void {
  // Without a namespace there is a path to list all objects, but none to a single one.
  if (!isInScope(resource, info))
    throw serverResponse(resource.kind.scope === "Cluster" || info.name !== "" ? 404 : 405);
}

export function isInScope({ kind }: Resource, { namespace, resource, verb }: RequestInfo): boolean {
  const inNamespace = namespace !== "" && resource !== "namespaces";
  return kind.scope === "Cluster" ? !inNamespace : inNamespace || verb === "list" || verb === "watch";
}

/** Whether the kind has a Go type: Kubernetes words its errors differently for kinds without one. */
function isTyped({ kind }: Resource): boolean {
  return kind.schema.goType !== undefined;
}

function notAllowed(resource: Resource, { verb }: RequestInfo): StatusError {
  return isTyped(resource) ? serverResponse(405) : methodNotSupported(resource.groupResource, verb);
}

function deletedStatus({ kind }: Resource, { name = "", uid = "" }: { name?: string; uid?: string }): JsonObject {
  const details = { name, ...(kind.group !== "" && { group: kind.group }), kind: kind.names.plural, uid };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}
