/** Answers a subresource that is not part of its object, or a resource that is not stored. */
import type { JsonObject, Kind } from "#api";
import { answerValue } from "../encode/answers.ts";
import { negotiate } from "../encode/negotiate.ts";
import type { ApiRequest, ApiResponse } from "../http/exchange.ts";
import { decodeSent } from "../rest/body.ts";
import type { AnyDraft } from "../rest/draft.ts";
import { type WriteOptions, writeOptions } from "../rest/options.ts";
import type { RestRequest } from "../rest/rest-request.ts";

export type Connector = (request: RestRequest, exchange: ApiRequest) => Promise<ApiResponse>;

/** The object in the body of a POST, and its options. */
export interface Posted {
  readonly draft: AnyDraft;
  readonly options: WriteOptions;
}

/** What decoding needs of a kind; kinds that exist only at subresources have no more. */
export type BodyKind = Pick<Kind, "group" | "version" | "kind" | "schema">;

export async function posted(request: RestRequest, kind: BodyKind): Promise<Posted> {
  const { query, warn, received } = request;
  const options = writeOptions("CreateOptions", query);
  const { draft, warnings } = await decodeSent(request, kind as Kind, options.fieldValidation);
  for (const warning of warnings) warn(warning);
  received?.(draft, kind as Kind);
  return { draft, options };
}

const DONE: JsonObject = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };

/** 201 for an action that leaves no object. */
export function done(exchange: ApiRequest, { cbor }: Pick<RestRequest, "cbor">): ApiResponse {
  const format = negotiate(exchange.headers.accept, exchange.query, false, true, cbor);
  const answer = answerValue(201, DONE, undefined, format);
  return { ...answer, value: () => DONE };
}
