/**
 * How often metadata is validated: once or twice by the server for all kinds, and by the kind's own rules on top. Each
 * validation reports what it finds, so that an answer repeats its causes.
 *
 * 1. On create the kind's rules come first; the server's are asked only if those find nothing at all.
 * 2. On update the server's come first, as for a new object and as for a change; then the kind's.
 * 3. What is valid is validated once: all passes find the same faults, except in names.
 */
import { type FieldError, type FieldPath, NO_ERRORS } from "./errors/field-error.ts";
import type { MetaPass } from "./kind.ts";
import { checkPathSegmentName } from "./names/names.ts";
import {
  type MetaRules,
  validateFinalizers,
  validateNames,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from "./object-meta.ts";
import type { ObjectMeta } from "./schema/object.ts";

export interface KindMetaRules extends MetaRules {
  /** The kind itself validates the metadata of a new object. */
  readonly ownCreate: boolean;
  /** The kind's own validations of a change. */
  readonly ownUpdate: readonly MetaPass[];
}

/** The kind's own validation of a new object's metadata. */
export function ownMetaErrors(meta: ObjectMeta, rules: KindMetaRules, at: FieldPath): readonly FieldError[] {
  return rules.ownCreate ? validateObjectMeta(meta, rules, at) : NO_ERRORS;
}

/** The server's validation of a new object's metadata, after the kind's own, which found nothing. */
export function serverMetaErrors(meta: ObjectMeta, rules: KindMetaRules, at: FieldPath): readonly FieldError[] {
  const server = serverRules(rules);
  return rules.ownCreate ? validateNames(meta, server, at) : validateObjectMeta(meta, server, at);
}

export function changedMetaErrors(
  meta: ObjectMeta,
  old: ObjectMeta,
  rules: KindMetaRules,
  passes: readonly MetaPass[],
  at: FieldPath,
): readonly FieldError[] {
  if (isValidChange(meta, old, rules, passes, at)) return NO_ERRORS;
  const server = serverRules(rules);
  return [
    ...validateObjectMeta(meta, server, at),
    ...validateObjectMetaUpdate(meta, old, server, at),
    ...passes.flatMap((pass) =>
      pass === "create" ? validateObjectMeta(meta, rules, at) : validateObjectMetaUpdate(meta, old, rules, at),
    ),
  ];
}

/** A name cannot change, and was valid on create; the prefix of a generated one can. */
function isValidChange(
  meta: ObjectMeta,
  old: ObjectMeta,
  rules: KindMetaRules,
  passes: readonly MetaPass[],
  at: FieldPath,
): boolean {
  const asked = passes.length === 0 ? serverRules(rules) : rules;
  if (validateObjectMetaUpdate(meta, old, asked, at).length > 0 || validateFinalizers(meta, at).length > 0)
    return false;
  if ((meta.generateName ?? "") === "") return true;
  const { generateName = "" } = meta;
  if (checkPathSegmentName(generateName, true).length > 0) return false;
  return !passes.includes("create") || rules.validateName(generateName, true).length === 0;
}

function serverRules({ namespaced }: MetaRules): MetaRules {
  return namespaced ? NAMESPACED : CLUSTER;
}

const NAMESPACED: MetaRules = { namespaced: true, validateName: checkPathSegmentName };
const CLUSTER: MetaRules = { namespaced: false, validateName: checkPathSegmentName };
