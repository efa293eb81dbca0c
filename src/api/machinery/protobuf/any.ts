/** Codecs of types without fields of their own in JSON: any JSON value, and one of two forms. */
import { goJson } from "../json/go-text.ts";
import { isObject, type Json } from "../json/json.ts";
import { JsonSyntaxError, parseJson } from "../json/json-text.ts";
import type { AnySchema, EitherSchema } from "../schema/schema.ts";
import { ProtobufError } from "./reader.ts";
import { type Codec, message, scalarCodecs, writeItems } from "./scalars.ts";
import type { ProtobufWriter } from "./writer.ts";

const utf8 = new TextDecoder();
const toUtf8 = new TextEncoder();

/** Bytes of JSON in a message of their own. */
export function rawCodec({ number: rawNumber = 1 }: AnySchema): Codec {
  return message(
    (writer, value) => {
      if (value === undefined) return;
      writer.bytes(toUtf8.encode(goJson(value)));
      writer.tag(rawNumber, 2);
    },
    (reader) => {
      let value: Json = null;
      reader.message((number, wire) => {
        if (number === rawNumber) value = parseRaw(reader.bytes());
        else reader.skip(wire);
      });
      return value;
    },
  );
}

function parseRaw(bytes: Uint8Array): Json {
  if (bytes.length === 0) return null;
  try {
    return parseJson(utf8.decode(bytes));
  } catch (error) {
    // The sender's fault, like any other in its bytes.
    if (error instanceof JsonSyntaxError) throw new ProtobufError(error.message);
    throw error;
  }
}

export function eitherCodec({ object, other }: EitherSchema, one: Codec): Codec {
  const items = other.form === "objects" ? one : scalarCodecs.string;
  const writers: readonly (readonly [number, (writer: ProtobufWriter, value: Json | undefined) => void])[] = [
    [
      object.number,
      (writer, value) => {
        if (!isObject(value)) return;
        one.write(writer, value);
        writer.tag(object.number, 2);
      },
    ],
    [
      other.number,
      (writer, value) => {
        if (other.form !== "boolean") return writeItems(writer, other.number, items, value);
        writer.varint(value === false || value === undefined ? 0 : 1);
        writer.tag(other.number, 0);
      },
    ],
  ];
  const inReverse = writers.toSorted(([a], [b]) => b - a);
  return message(
    (writer, value) => {
      for (const [, write] of inReverse) write(writer, value);
    },
    (reader) => {
      let asObject: Json | undefined;
      let otherwise: Json = other.form === "boolean" ? false : [];
      reader.message((number, wire) => {
        if (number === object.number) asObject = one.read(reader);
        else if (number !== other.number) reader.skip(wire);
        else if (other.form === "boolean") otherwise = reader.varint() !== 0;
        else otherwise = [...(otherwise as readonly Json[]), items.read(reader)];
      });
      return asObject ?? otherwise;
    },
  );
}
