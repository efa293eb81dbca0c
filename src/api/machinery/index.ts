/** The whole public surface of machinery, except for server-side apply, which has its own. */

export { base64Fault, decodeBase64, encodeBase64, isCanonicalBase64 } from "./base64.ts";
/** The Common Expression Language: `cel.celEnvironment({ … })`, `cel.types.list(…)`. */
export * as cel from "./cel/index.ts";
/** What Kubernetes adds to it, place by place: `celLibraries.baseEnvironment()`. */
export * as celLibraries from "./cel/libraries/index.ts";
export { type Decoded, DecodeError, type DecodeOptions, decode } from "./decode.ts";
export { DurationError, durationMs, formatDuration, formatMs, parseDuration } from "./duration.ts";
export { equalJson } from "./equal.ts";
/** Builders for faults: `field.required(at("spec").child("name"))`. */
export * as field from "./field-error.ts";
export { at, type FieldError, type FieldErrorType, FieldPath, invalidStatus, type Where } from "./field-error.ts";
export {
  escapeFieldValue,
  exactValue,
  type FieldMatcher,
  FieldSelectorError,
  type FieldTerm,
  fieldMatcherOf,
  parseFieldSelector,
} from "./field-selector.ts";
export { flatText } from "./flat-text.ts";
export { generateName } from "./generate-name.ts";
export { goJson, goQuote, goValue } from "./go-text.ts";
export { type IntOrString, IntOrStringError, isPercentage, scaledIntOrString } from "./int-or-string.ts";
export {
  type Cidr,
  checkCidr,
  checkIp,
  checkIpv4,
  checkIpv6,
  contains,
  formatIp,
  type Ip,
  parseCidr,
  parseIp,
} from "./ip.ts";
export { cloneJson, isObject, type Json, type JsonObject, plainJson } from "./json.ts";
export {
  applyJsonPatch,
  decodeJsonPatch,
  type JsonPatch,
  JsonPatchError,
  maxJsonPatchOperations,
} from "./json-patch.ts";
export { hasDuplicateKeys, JsonSyntaxError, parseJson, strictFieldErrors, unknownField } from "./json-text.ts";
export * from "./kind.ts";
export { parseLabelSelector } from "./label-syntax.ts";
export {
  everything,
  type LabelExpression,
  type LabelMatcher,
  type LabelOperator,
  type LabelRequirement,
  type LabelSelector,
  LabelSelectorError,
  type Labels,
  matcherOf,
  matcherOfSelector,
  nothing,
  requirement,
  validateLabelSelector,
  validateLabels,
} from "./labels.ts";
export { applyMergePatch, createMergePatch } from "./merge-patch.ts";
export * from "./names.ts";
export * from "./object.ts";
export { decodeProtobuf, encodeProtobuf } from "./protobuf.ts";
export { decodeEnvelope, type Envelope, encodeEnvelope, isEnvelope } from "./protobuf-envelope.ts";
export { ProtobufError } from "./protobuf-reader.ts";
export { decodeWatchFrame, encodeWatchFrame, type WatchFrame } from "./protobuf-watch.ts";
export * from "./quantity.ts";
export * from "./schema.ts";
export * from "./status.ts";
export * from "./status-errors.ts";
export { applyStrategicMergePatch } from "./strategic-merge-patch.ts";
export {
  canonicalMicroTime,
  canonicalTime,
  formatMicroTime,
  formatTime,
  type Instant,
  instantOf,
  parseMicroTime,
  parseTime,
  TimeError,
  toMs,
} from "./time.ts";
export { jsonKind, unmarshalText } from "./unmarshal-text.ts";
export { type ParsedYaml, parseYaml, YamlSyntaxError } from "./yaml-text.ts";
