/** PATCH with an applied configuration: server-side apply, as a proposal for the new object. */
import { apiVersionOf, applyConfiguration, badRequest, conflict, decode, isObject, type JsonObject } from "#api";
import type { AnyDraft } from "../draft.ts";
import type { PatchOptions } from "../options.ts";
import type { RestRequest, Written } from "../rest-request.ts";
import { change } from "./change.ts";
import { ownershipContext } from "./ownership.ts";
import { parseApplied, parseAppliedCbor } from "./sent-patch.ts";

export async function apply(
  request: RestRequest,
  bytes: Buffer,
  options: PatchOptions,
  isCbor = false,
): Promise<Written> {
  const { kind } = request.resource;
  const validates = options.fieldValidation !== "Ignore";
  const { value: applied, duplicates } = isCbor
    ? parseAppliedCbor(bytes, kind.schema)
    : parseApplied(bytes, kind.schema, validates);
  return change(request, {
    dryRun: options.dryRun,
    mayCreate: request.subresource === "",
    beforeCreate: () => refuseUid(applied, request),
    propose: async (current) => {
      const asked = {
        ...ownershipContext(request),
        kind: kind.kind,
        live: current as JsonObject | undefined,
        applied: named(applied, request),
        force: options.force,
      };
      const { forms } = request.resource;
      const result =
        forms === undefined
          ? applyConfiguration(asked)
          : await forms.converting((convert) => applyConfiguration({ ...asked, convert }));
      if (duplicates !== undefined) reportRepeated(duplicates, request, options);
      const { value } = decode(kind.schema, result.object, { from: "maps", keepsNull: true });
      const draft = value as unknown as AnyDraft;
      draft.kind = kind.kind;
      draft.apiVersion = apiVersionOf(kind);
      if (result.managedFields.length > 0) {
        draft.metadata.managedFields = result.managedFields as AnyDraft["metadata"]["managedFields"] & object;
      }
      return { draft, owned: true };
    },
  });
}

/** A configuration with a uid is about an object that exists. */
function refuseUid({ metadata }: JsonObject, { resource, name }: RestRequest): void {
  const uid = isObject(metadata) ? metadata.uid : undefined;
  if (uid === undefined || uid === null || uid === "") return;
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw conflict(resource.groupResource, name, why);
}

/** As Kubernetes does, after apply has found no fault of its own. */
export function reportRepeated(duplicates: string, { warn }: RestRequest, { fieldValidation }: PatchOptions): void {
  const fault = `error converting YAML to JSON: ${duplicates}`;
  if (fieldValidation === "Strict") throw badRequest(`error strict decoding YAML: ${fault}`);
  warn(fault);
}

/** The name comes from the path; the configuration must not name another. */
export function named(applied: JsonObject, { name }: RestRequest): JsonObject {
  const metadata = isObject(applied.metadata) ? applied.metadata : {};
  if (metadata.name !== undefined && metadata.name !== name) {
    throw badRequest(
      `metadata.name: the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
  }
  return { ...applied, metadata: { ...metadata, name } };
}
