/**
 * The body of a request that is not a create, update or patch of an object: a review, a Binding, a Scale, options.
 *
 *     bytes ──► large? ── no ──► readHere, at once
 *                 └─ yes ──► ../../heavy ──► readHere, in the thread of large requests
 */
import { type Json, typeSchema } from "#api";
import type { Maybe } from "#base";
import { decodeBody, parseOptions, parseTyped } from "../body.ts";
import type { BodyForm, ReadBody, Sent } from "../body-form.ts";
import type { RestRequest } from "../rest-request.ts";
import { APPLY_CBOR_PATCH, parseApplied, parseAppliedCbor, parsePatch } from "./sent-patch.ts";

export function readBody(
  request: Pick<RestRequest, "contentType" | "cbor" | "user" | "largeBodies">,
  bytes: Buffer,
  form: BodyForm,
): Maybe<ReadBody> {
  return request.largeBodies?.decode(request, bytes, form) ?? readHere(request, bytes, form);
}

export function readHere({ contentType, cbor }: Sent, bytes: Buffer, form: BodyForm): ReadBody {
  switch (form.as) {
    case "object": {
      const { group, version, kind, typeName, validation } = form;
      const decoded = { group, version, kind, schema: typeSchema(typeName) };
      const { draft, warnings } = decodeBody(bytes, contentType, decoded, validation, undefined, cbor);
      return { value: draft as unknown as Json, warnings };
    }
    case "type":
      return { value: parseTyped(bytes, contentType, form.typeName, cbor), warnings: [] };
    case "options":
      return { value: parseOptions(bytes, contentType, form.typeName, cbor), warnings: [] };
    case "configuration": {
      const schema = typeSchema(form.typeName);
      const { value, duplicates } =
        form.patchType === APPLY_CBOR_PATCH
          ? parseAppliedCbor(bytes, schema)
          : parseApplied(bytes, schema, form.strict);
      return { value, warnings: duplicates === undefined ? [] : [duplicates] };
    }
    case "patch":
      return { value: parsePatch(form.patchType, bytes.toString("utf8")).value, warnings: [] };
  }
}
