/** The public surface of machinery, except for server-side apply, which has its own. */

export {
  CborError,
  CborWriter,
  decodeCbor,
  decodeCborSequence,
  encodeCbor,
  encodeCborItem,
  isSelfDescribed,
  MAJOR as CBOR_MAJOR,
  unknownFieldIndex,
} from "./cbor/index.ts";
/** The Common Expression Language: `cel.celEnvironment({ … })`, `cel.types.list(…)`. */
export * as cel from "./cel/index.ts";
/** The libraries that Kubernetes adds to CEL, for each place: `celLibraries.baseEnvironment()`. */
export * as celLibraries from "./cel/libraries/index.ts";
/** Builders for faults: `field.required(at("spec").child("name"))`. */
export * as field from "./errors/field-error.ts";
export {
  at,
  type FieldError,
  type FieldErrorType,
  FieldPath,
  invalidStatus,
  type Where,
} from "./errors/field-error.ts";
export * from "./errors/status.ts";
export * from "./errors/status-errors.ts";
export { equalBut, equalJson } from "./json/equal.ts";
export { flatText } from "./json/flat-text.ts";
export { goJson, goQuote, goValue } from "./json/go-text.ts";
export { addInt64, compareInt64, int64Of, isInt64, parseInt64 } from "./json/int64.ts";
export { cloneJson, type Int64, isObject, type Json, type JsonObject, plainJson } from "./json/json.ts";
export {
  hasDuplicateKeys,
  type JsonDocument,
  JsonSyntaxError,
  parseDocument,
  parseJson,
  strictFieldErrors,
  type TextFacts,
  textFacts,
  unknownField,
} from "./json/json-text.ts";
export { printable } from "./json/printed.ts";
export { cloneDraft, hasSentEmpty, sentEmpty } from "./json/sent-empty.ts";
export { parseSpelled } from "./json/spelled-number.ts";
export { jsonKind, unmarshalText } from "./json/unmarshal-text.ts";
export { writeJson } from "./json/write-json.ts";
export { writeYaml } from "./json/write-yaml.ts";
export { type ParsedYaml, parseYaml, YamlSyntaxError } from "./json/yaml-text.ts";
export * from "./kind.ts";
export {
  escapeFieldValue,
  exactValue,
  type FieldMatcher,
  FieldSelectorError,
  type FieldTerm,
  fieldMatcherOf,
  parseFieldSelector,
} from "./names/field-selector.ts";
export { generateName } from "./names/generate-name.ts";
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
} from "./names/ip.ts";
export { parseLabelSelector } from "./names/label-syntax.ts";
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
} from "./names/labels.ts";
export * from "./names/names.ts";
export {
  applyJsonPatch,
  decodeJsonPatch,
  type JsonPatch,
  JsonPatchError,
  maxJsonPatchOperations,
} from "./patch/json-patch.ts";
export { applyMergePatch, createMergePatch } from "./patch/merge-patch.ts";
export { applyStrategicMergePatch, spentStrategicMergePatch } from "./patch/strategic-merge-patch.ts";
export { decodeProtobuf, encodeProtobuf } from "./protobuf/codec.ts";
export { decodeEnvelope, type Envelope, encodeEnvelope, isEnvelope } from "./protobuf/envelope.ts";
export { ProtobufError } from "./protobuf/reader.ts";
export { decodeWatchFrame, encodeWatchFrame, type WatchFrame } from "./protobuf/watch.ts";
export { ProtobufWriter } from "./protobuf/writer.ts";
export { clusterWide, type KindName, namespaced, type ResourceName } from "./resource-name.ts";
export { base64Fault, decodeBase64, encodeBase64, isCanonicalBase64 } from "./scalars/base64.ts";
export { DurationError, durationMs, formatDuration, formatMs, parseDuration } from "./scalars/duration.ts";
export { type IntOrString, IntOrStringError, isPercentage, scaledIntOrString } from "./scalars/int-or-string.ts";
export * from "./scalars/quantity.ts";
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
} from "./scalars/time.ts";
export { type Decoded, DecodeError, type DecodeOptions, decode } from "./schema/decode.ts";
export * from "./schema/object.ts";
export * from "./schema/schema.ts";
export { inTypeOrder } from "./schema/type-order.ts";
