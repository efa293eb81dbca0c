/**
 * Kubernetes' protobuf encoding of objects. It uses the same schema as JSON, so both are forms of one value.
 *
 * 1. Encoding is deterministic: fields by number, keys of maps sorted. As in Go, fields that are not pointers are
 *    written even when they are zero.
 * 2. Decoding gives the JSON that Go would write: fields in the order of the schema, empty ones left out where Go
 *    leaves them out.
 * 3. Fields that the schema does not have are skipped.
 * 4. A schema is compiled once, and the result kept as long as the schema lives.
 */
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { getKey, type OpenObject, setKey } from "../json/own-key.ts";
import { onceForEach } from "../schema/memo.ts";
import type { FieldSchema, ListSchema, MapSchema, ObjectSchema, Schema } from "../schema/schema.ts";
import { isAlwaysWritten, leavesOut, zeroField } from "../schema/zero.ts";
import { eitherCodec, rawCodec } from "./any.ts";
import { ProtobufReader } from "./reader.ts";
import { type Codec, message, scalarCodecs, writeItems } from "./scalars.ts";
import { ProtobufWriter } from "./writer.ts";

export function encodeProtobuf(schema: ObjectSchema, value: JsonObject): Uint8Array<ArrayBuffer> {
  const writer = new ProtobufWriter();
  writeFields(writer, planOf(schema).parts, value);
  return writer.finish();
}

export function decodeProtobuf(schema: ObjectSchema, bytes: Uint8Array): JsonObject {
  const reader = new ProtobufReader(bytes);
  return readObject(planOf(schema), (read) => reader.fields(read), reader);
}

/** A field of the message, or a message that JSON writes inline. */
type Part = FieldPart | { readonly number: number; readonly parts: readonly Part[] };

interface FieldPart {
  readonly number: number;
  readonly rank: number;
  readonly name: string;
  readonly carrier: Carrier;
  readonly optional: boolean;
}

/** How a field occurs in the message: once, once for each item, or once for each entry. */
interface Carrier {
  write(writer: ProtobufWriter, number: number, value: Json): void;
  /** Called for each occurrence, with the result of the earlier ones. */
  read(reader: ProtobufReader, wire: number, before: Json | undefined): Json;
  readonly zero?: Codec;
}

interface Plan {
  readonly parts: readonly Part[];
  readonly fields: readonly {
    readonly name: string;
    readonly leavesOut: (value: Json) => boolean;
    readonly zero: (() => Json) | undefined;
  }[];
}

const planOf = onceForEach(compilePlan);

function compilePlan(schema: ObjectSchema): Plan {
  const fields = [...schema.fields.values()];
  return {
    parts: nest(
      fields
        .map((field, rank) => ({ part: fieldPart(field, rank), outer: field.embedded ?? [] }))
        .filter(({ part }) => part.number > 0),
    ),
    fields: fields.map((field) => ({
      name: field.name,
      leavesOut: leavesOut(field),
      zero: isAlwaysWritten(field) && field.number > 0 ? () => zeroField(field) : undefined,
    })),
  };
}

/** Groups fields that are embedded in the same message. */
function nest(found: readonly { readonly part: FieldPart; readonly outer: readonly number[] }[]): readonly Part[] {
  const parts: Part[] = [];
  const inner = Map.groupBy(found, ({ outer }) => outer[0] ?? 0);
  for (const [number, members] of inner) {
    if (number === 0) parts.push(...members.map(({ part }) => part));
    else parts.push({ number, parts: nest(members.map(({ part, outer }) => ({ part, outer: outer.slice(1) }))) });
  }
  return parts.sort((a, b) => a.number - b.number);
}

function fieldPart(field: FieldSchema, rank: number): FieldPart {
  const { number, name, schema } = field;
  const optional = field.pointer || schema.type === "list" || schema.type === "map" || schema.type === "bytes";
  return { number, rank, name, carrier: carrierOf(schema), optional };
}

function carrierOf(schema: Schema): Carrier {
  if (schema.type === "list" && schema.wrapped !== true) return listCarrier(schema);
  if (schema.type === "map") return mapCarrier(schema);
  const codec = codecOf(schema);
  return {
    zero: codec,
    write: (writer, number, value) => {
      codec.write(writer, value);
      writer.tag(number, codec.wire);
    },
    read: (reader) => codec.read(reader),
  };
}

function codecOf(schema: Schema): Codec {
  switch (schema.type) {
    case "object":
      return objectCodec(schema);
    case "list":
      return wrappedList(schema);
    case "any":
      return schema.either === undefined
        ? rawCodec(schema)
        : eitherCodec(schema.either, objectCodec(schema.either.object.schema));
    case "map":
      throw new TypeError("protobuf has no maps inside of lists and maps");
    default:
      return scalarCodecs[schema.type];
  }
}

function writeFields(writer: ProtobufWriter, parts: readonly Part[], value: JsonObject): void {
  for (let i = parts.length - 1; i >= 0; i--) {
    const part = parts[i] as Part;
    if ("parts" in part) {
      const before = writer.length;
      writeFields(writer, part.parts, value);
      writer.lengthSince(before);
      writer.tag(part.number, 2);
      continue;
    }
    const field = value[part.name];
    if (field !== undefined && field !== null) part.carrier.write(writer, part.number, field);
    else if (!part.optional) {
      part.carrier.zero?.write(writer, undefined);
      writer.tag(part.number, part.carrier.zero?.wire ?? 2);
    }
  }
}

type ReadField = (number: number, wire: number) => void;

function readObject(plan: Plan, eachField: (read: ReadField) => void, reader: ProtobufReader): JsonObject {
  const values: (Json | undefined)[] = new Array(plan.fields.length);
  eachField(readInto(values, plan.parts, reader));
  const object: OpenObject = {};
  for (let rank = 0; rank < plan.fields.length; rank++) {
    const field = plan.fields[rank] as Plan["fields"][number];
    const value = values[rank] ?? field.zero?.();
    if (value !== undefined && !field.leavesOut(value)) object[field.name] = value;
  }
  return object;
}

function readInto(values: (Json | undefined)[], parts: readonly Part[], reader: ProtobufReader): ReadField {
  /** Fields come in the order of their numbers: the search starts at the last one. */
  let at = 0;
  return (number, wire) => {
    if (number < (parts[at]?.number ?? Number.POSITIVE_INFINITY)) at = 0;
    while (at < parts.length && (parts[at] as Part).number < number) at++;
    const part = parts[at]?.number === number ? parts[at] : undefined;
    if (part === undefined) reader.skip(wire);
    else if ("parts" in part) reader.message(readInto(values, part.parts, reader));
    else values[part.rank] = part.carrier.read(reader, wire, values[part.rank]);
  };
}

function objectCodec(schema: ObjectSchema): Codec {
  let plan: Plan | undefined;
  return message(
    (writer, value) => {
      plan ??= planOf(schema);
      writeFields(writer, plan.parts, isObject(value) ? value : {});
    },
    (reader) => {
      plan ??= planOf(schema);
      return readObject(plan, (read) => reader.message(read), reader);
    },
  );
}

function listCarrier({ items }: ListSchema): Carrier {
  const codec = codecOf(items);
  return {
    write: (writer, number, value) => writeItems(writer, number, codec, value),
    read: (reader, wire, before) => {
      const list = (before ?? []) as Json[];
      if (wire === 2 && codec.wire !== 2) {
        const packed = new ProtobufReader(reader.bytes());
        while (!packed.done) list.push(codec.read(packed));
      } else {
        list.push(codec.read(reader));
      }
      return list;
    },
  };
}

function wrappedList({ items }: ListSchema): Codec {
  const codec = codecOf(items);
  return message(
    (writer, value) => writeItems(writer, 1, codec, value),
    (reader) => {
      const list: Json[] = [];
      reader.message((number, wire) => {
        if (number === 1) list.push(codec.read(reader));
        else reader.skip(wire);
      });
      return list;
    },
  );
}

function mapCarrier({ values }: MapSchema): Carrier {
  const codec = codecOf(values);
  return {
    write: (writer, number, value) => {
      if (!isObject(value)) return;
      for (const key of Object.keys(value).sort().reverse()) {
        const before = writer.length;
        codec.write(writer, getKey(value, key) ?? undefined);
        writer.tag(2, codec.wire);
        writer.string(key);
        writer.tag(1, 2);
        writer.lengthSince(before);
        writer.tag(number, 2);
      }
    },
    read: (reader, _, before) => {
      const map = (before ?? {}) as OpenObject;
      let key = "";
      let value: Json | undefined;
      reader.message((number, wire) => {
        if (number === 1) key = reader.string();
        else if (number === 2) value = codec.read(reader);
        else reader.skip(wire);
      });
      setKey(map, key, value ?? null);
      return map;
    },
  };
}
