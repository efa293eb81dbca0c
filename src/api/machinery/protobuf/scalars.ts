/** Codecs of scalar types. Types that write their own JSON are small messages. */

import { isInt64 } from "../json/int64.ts";
import type { Json } from "../json/json.ts";
import { decodeBase64, encodeBase64 } from "../scalars/base64.ts";
import { formatDuration, parseDuration } from "../scalars/duration.ts";
import { canonicalQuantity, QuantityError } from "../scalars/quantity.ts";
import { formatMicroTime, formatTime, parseMicroTime, parseTime } from "../scalars/time.ts";
import type { ScalarType } from "../schema/schema.ts";
import { ProtobufError, type ProtobufReader } from "./reader.ts";
import type { ProtobufWriter } from "./writer.ts";

/** Reads and writes a value without its tag; messages and strings with their length. */
export interface Codec {
  readonly wire: 0 | 1 | 2;
  /** An undefined value is written as zero. */
  write(writer: ProtobufWriter, value: Json | undefined): void;
  read(reader: ProtobufReader): Json;
}

const int32: Codec = {
  wire: 0,
  write: (writer, value) => writer.varint(typeof value === "number" ? value : 0),
  // As in Go, the upper bits are dropped.
  read: (reader) => reader.varint() | 0,
};

const int64: Codec = {
  wire: 0,
  write: (writer, value) => writer.varint(isInt64(value) ? value : 0),
  read: (reader) => reader.int64(),
};

export const scalarCodecs: Readonly<Record<ScalarType, Codec>> = {
  string: {
    wire: 2,
    write: (writer, value) => writer.string(typeof value === "string" ? value : ""),
    read: (reader) => reader.string(),
  },
  boolean: {
    wire: 0,
    write: (writer, value) => writer.varint(value === true ? 1 : 0),
    read: (reader) => reader.varint() !== 0,
  },
  int32,
  int64,
  double: {
    wire: 1,
    write: (writer, value) => writer.double(typeof value === "number" ? value : 0),
    read: (reader) => reader.double(),
  },
  bytes: {
    wire: 2,
    write: (writer, value) => writer.bytes(decodeBase64(typeof value === "string" ? value : "")),
    read: (reader) => encodeBase64(reader.bytes()),
  },
  quantity: message(
    (writer, value) => textField(writer, 1, typeof value === "string" ? value : String(value ?? 0)),
    (reader) => {
      let text = "0";
      reader.message((number, wire) => {
        if (number === 1) text = reader.string();
        else reader.skip(wire);
      });
      return text === "" ? "0" : quantityIn(text);
    },
  ),
  intOrString: message(
    (writer, value) => {
      textField(writer, 3, typeof value === "string" ? value : "");
      integerField(writer, 2, typeof value === "number" ? value : 0);
      integerField(writer, 1, typeof value === "string" ? 1 : 0);
    },
    (reader) => {
      let [type, number, text] = [0, 0, ""];
      reader.message((field, wire) => {
        if (field === 1) type = reader.varint();
        else if (field === 2) number = reader.varint() | 0;
        else if (field === 3) text = reader.string();
        else reader.skip(wire);
      });
      return type === 0 ? number : text;
    },
  ),
  time: timestamp(parseTime, formatTime),
  microTime: timestamp(parseMicroTime, formatMicroTime),
  duration: message(
    (writer, value) => {
      writer.bigVarint(typeof value === "string" ? parseDuration(value) : 0n);
      writer.tag(1, 0);
    },
    (reader) => {
      let nanoseconds = 0n;
      reader.message((number, wire) => {
        if (number === 1) nanoseconds = reader.bigSigned();
        else reader.skip(wire);
      });
      return formatDuration(nanoseconds);
    },
  ),
};

function quantityIn(text: string): string {
  try {
    return canonicalQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) throw new ProtobufError(error.message, { cause: error });
    throw error;
  }
}

/** The zero time is an empty message. */
function timestamp(parse: typeof parseTime, format: typeof formatTime): Codec {
  return message(
    (writer, value) => {
      if (typeof value !== "string") return;
      const { seconds, nanos } = parse(value);
      integerField(writer, 2, nanos);
      integerField(writer, 1, seconds);
    },
    (reader) => {
      let [seconds, nanos, set] = [0, 0, false];
      reader.message((number, wire) => {
        set = true;
        if (number === 1) seconds = reader.varint();
        else if (number === 2) nanos = reader.varint();
        else reader.skip(wire);
      });
      return set ? format({ seconds, nanos }) : null;
    },
  );
}

export function message(
  content: (writer: ProtobufWriter, value: Json | undefined) => void,
  read: Codec["read"],
): Codec {
  return {
    wire: 2,
    write: (writer, value) => {
      const before = writer.length;
      content(writer, value);
      writer.lengthSince(before);
    },
    read,
  };
}

/** The items of a list, each with its tag. */
export function writeItems(writer: ProtobufWriter, number: number, codec: Codec, value: Json | undefined): void {
  if (!Array.isArray(value)) return;
  for (let i = value.length - 1; i >= 0; i--) {
    codec.write(writer, (value[i] as Json) ?? undefined);
    writer.tag(number, codec.wire);
  }
}

function textField(writer: ProtobufWriter, number: number, text: string): void {
  writer.string(text);
  writer.tag(number, 2);
}

function integerField(writer: ProtobufWriter, number: number, value: number): void {
  writer.varint(value);
  writer.tag(number, 0);
}
