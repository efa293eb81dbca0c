/** Answers a subresource that is not part of its object, or a resource that is not stored. */
import type { JsonObject, Kind } from "#api";
import { andThen, type Maybe } from "#base";
import { answerValue } from "../encode/answers.ts";
import { negotiate } from "../encode/negotiate.ts";
import type { ApiRequest, ApiResponse } from "../http/exchange.ts";
import { type BodyKind, type DecodedBody, decodeSentValue } from "../rest/body.ts";
import type { AnyDraft } from "../rest/draft.ts";
import { type WriteOptions, writeOptions } from "../rest/options.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import { readBody } from "../rest/write/read-body.ts";

export type Connector = (request: RestRequest, exchange: ApiRequest) => Promise<ApiResponse>;

/** The object in the body of a POST, and its options. */
export interface Posted {
  readonly draft: AnyDraft;
  readonly options: WriteOptions;
}

export async function posted(request: RestRequest, kind: BodyKind): Promise<Posted> {
  const { query, warn, received } = request;
  const options = writeOptions("CreateOptions", query);
  const { draft, warnings } = await decoded(request, kind, options.fieldValidation);
  for (const warning of warnings) warn(warning);
  received?.(draft, kind as Kind);
  return { draft, options };
}

function decoded(
  request: RestRequest,
  kind: BodyKind,
  validation: WriteOptions["fieldValidation"],
): Maybe<DecodedBody> {
  const known = decodeSentValue(request.value, kind, validation);
  if (known !== undefined) return known;
  const { group, version, kind: name, schema } = kind;
  const form = { as: "object", group, version, kind: name, typeName: schema.goType ?? "", validation } as const;
  return request.body().then((bytes) =>
    andThen(readBody(request, bytes, form), ({ value, warnings }) => ({
      draft: value as unknown as AnyDraft,
      warnings,
    })),
  );
}

const DONE: JsonObject = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };

/** 201 for an action that leaves no object. */
export function done(exchange: ApiRequest, { cbor }: Pick<RestRequest, "cbor">): ApiResponse {
  const format = negotiate(exchange.headers.accept, exchange.query, false, true, cbor);
  const answer = answerValue(201, DONE, undefined, format);
  return { ...answer, value: () => DONE };
}
