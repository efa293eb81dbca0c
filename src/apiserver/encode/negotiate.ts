/** Content negotiation: the format of a response, from the Accept header. */
import { notAcceptable, StatusError } from "#api";
import { memoized } from "#base";
import { bodyTypes, CBOR_TYPE, JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from "../rest/body.ts";

export type MediaType = typeof JSON_TYPE | typeof YAML_TYPE | typeof PROTOBUF_TYPE | typeof CBOR_TYPE;

/** Of the watches of those who accept CBOR: a sequence of items (RFC 8742). */
export const CBOR_SEQUENCE_TYPE = "application/cbor-seq";

export interface Format {
  readonly type: MediaType;
  /** Another shape than the object itself. */
  readonly as?: {
    readonly kind: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
    readonly version: "v1" | "v1beta1";
  };
  readonly pretty: boolean;
}

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

const TRUE_WORDS = ["1", "t", "T", "true", "TRUE", "True"];
const SHAPES = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"] as const;
const STREAMS = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

/**
 * `streams`: the endpoint can be watched, so the error lists the stream types, too. `protobuf`: false for custom
 * resources, whose objects have no protobuf form; their tables and metadata have. `cbor`: its feature gate is on.
 */
export function negotiate(
  accept: string | undefined,
  query: URLSearchParams,
  streams: boolean,
  protobuf = true,
  cbor = false,
): Format {
  const pretty = TRUE_WORDS.includes(query.get("pretty") ?? "");
  const clauses = accept === undefined ? [] : parseAccept(accept);
  if (clauses.length === 0) return { type: JSON_TYPE, pretty };
  let known = false;
  for (const { type, parameters } of clauses) {
    const media = mediaOf(type, cbor, streams);
    if (media === undefined) continue;
    known = true;
    const as = parameters.get("as");
    if (as === undefined && media === PROTOBUF_TYPE && !protobuf) continue;
    if (as === undefined) return { type: media, pretty };
    const kind = SHAPES.find((shape) => shape === as);
    const version = parameters.get("v");
    if (kind !== undefined && parameters.get("g") === "meta.k8s.io" && (version === "v1" || version === "v1beta1")) {
      return { type: media, as: { kind, version }, pretty };
    }
  }
  if (known) throw notAcceptable(bodyTypes(cbor));
  const available = [
    ...bodyTypes(cbor),
    ...(streams ? STREAMS : []),
    ...(streams && cbor ? [CBOR_SEQUENCE_TYPE] : []),
  ].join(", ");
  throw new StatusError("NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${available}`, {
    details: {},
  });
}

/** The format of errors: the first accepted one that exists, else JSON. */
export function errorFormat(accept: string | undefined, cbor = false): MediaType {
  for (const { type } of parseAccept(accept ?? "")) {
    const media = mediaOf(type, cbor, cbor);
    if (media !== undefined) return media;
  }
  return JSON_TYPE;
}

function mediaOf(type: string, cbor: boolean, streams: boolean): MediaType | undefined {
  if (type === "*/*" || type === "application/*" || type === JSON_TYPE) return JSON_TYPE;
  if (type === YAML_TYPE || type === "application/yml") return YAML_TYPE;
  if (cbor && (type === CBOR_TYPE || (streams && type === CBOR_SEQUENCE_TYPE))) return CBOR_TYPE;
  return type === PROTOBUF_TYPE ? PROTOBUF_TYPE : undefined;
}

/** Clients send the same few headers again and again. */
const MAX_MEMOIZED = 256;
const parseAccept = memoized(MAX_MEMOIZED, readAccept);

/** Sorted by preference: by quality, then named types before wildcards. */
function readAccept(header: string): readonly Clause[] {
  const clauses = header
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => {
      const [type = "", ...rest] = part.split(";").map((piece) => piece.trim());
      const parameters = new Map(rest.map((piece) => piece.split("=", 2) as [string, string]));
      return { type: type.toLowerCase(), parameters, quality: Number(parameters.get("q") ?? 1) || 0 };
    });
  return clauses.sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

function wildcards({ type }: Clause): number {
  return type.split("*").length;
}
