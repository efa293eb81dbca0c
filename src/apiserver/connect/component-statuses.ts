/** ComponentStatuses: not stored; each request probes the components. */
import { type core, type KubeObject, notAcceptable, notFound } from "#api";
import { answerValue } from "../encode/answers.ts";
import { type Format, negotiate } from "../encode/negotiate.ts";
import { partialList, partialObject } from "../encode/partial.ts";
import { tableOf } from "../encode/table.ts";
import type { ApiRequest, ApiResponse } from "../http/exchange.ts";
import { BODY_TYPES, PROTOBUF_TYPE } from "../rest/body.ts";
import { selectionOf } from "../rest/read/selection.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import type { Connector } from "./connector.ts";

export interface Component {
  readonly name: string;
  /** The message of a healthy component; throws if it is not healthy. */
  probe(signal: AbortSignal): Promise<string>;
}

export function componentStatuses(components: readonly Component[]): Connector {
  return async (request, exchange) => {
    const format = negotiate(exchange.headers.accept, exchange.query, true, true, request.cbor);
    const { name } = request;
    if (name !== "") {
      const component = components.find((one) => one.name === name);
      if (component === undefined) throw notFound({ group: "", resource: "componentstatus" }, name);
      return answer(request, format, await statusOf(component, exchange.signal));
    }
    const { name: only, matches } = selectionOf(request);
    const asked = components.filter((one) => only === undefined || one.name === only);
    const found = await Promise.all(asked.map((one) => statusOf(one, exchange.signal)));
    return answerAll(
      request,
      exchange,
      format,
      found.filter((status) => matches?.(status) ?? true),
    );
  };
}

async function statusOf({ name, probe }: Component, signal: AbortSignal): Promise<core.ComponentStatus> {
  const condition = await probe(signal).then(
    (message) => ({ type: "Healthy", status: "True", message }),
    (error: unknown) => ({
      type: "Healthy",
      status: "False",
      message: error instanceof Error ? error.message : String(error),
    }),
  );
  return { metadata: { name }, conditions: [condition] };
}

function answer(
  { resource, query, context }: RestRequest,
  { as, ...format }: Format,
  status: core.ComponentStatus,
): ApiResponse {
  const { kind } = resource;
  const object = { kind: kind.kind, apiVersion: kind.version, ...status } as KubeObject;
  if (as === undefined) return answerValue(200, object, kind, format);
  if (as.kind === "PartialObjectMetadataList" || format.type === PROTOBUF_TYPE) throw notAcceptable(BODY_TYPES);
  if (as.kind === "PartialObjectMetadata")
    return answerValue(200, partialObject(kind, object, as.version), undefined, format);
  return answerValue(200, tableOf(kind, [object], {}, as.version, query, context.clock.now()), undefined, format);
}

function answerAll(
  { resource, context }: RestRequest,
  { query }: ApiRequest,
  { as, ...format }: Format,
  items: readonly KubeObject[],
): ApiResponse {
  const { kind } = resource;
  if (as === undefined) {
    return answerValue(200, { kind: `${kind.kind}List`, apiVersion: kind.version, metadata: {}, items }, kind, format);
  }
  if (as.kind === "PartialObjectMetadata" || format.type === PROTOBUF_TYPE) throw notAcceptable(BODY_TYPES);
  if (as.kind === "PartialObjectMetadataList")
    return answerValue(200, partialList(kind, items, {}, as.version), undefined, format);
  const objects = items.map((item) => ({ kind: kind.kind, apiVersion: kind.version, ...item }));
  return answerValue(200, tableOf(kind, objects, {}, as.version, query, context.clock.now()), undefined, format);
}
