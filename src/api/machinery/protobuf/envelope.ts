/** The envelope of a protobuf object: four magic bytes, and a message with its kind. */
import { ProtobufError, ProtobufReader } from "./reader.ts";
import { ProtobufWriter } from "./writer.ts";

export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The object itself: protobuf, unless `contentType` says otherwise. */
  readonly raw: Uint8Array;
  readonly contentEncoding: string;
  readonly contentType: string;
}

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0);

export function isEnvelope(bytes: Uint8Array): boolean {
  return bytes.length >= magic.length && magic.every((byte, i) => bytes[i] === byte);
}

export function encodeEnvelope(
  envelope: Pick<Envelope, "apiVersion" | "kind" | "raw"> & Partial<Envelope>,
): Uint8Array<ArrayBuffer> {
  const writer = new ProtobufWriter(envelope.raw.length + 256);
  writeText(writer, 4, envelope.contentType ?? "");
  writeText(writer, 3, envelope.contentEncoding ?? "");
  writer.bytes(envelope.raw);
  writer.tag(2, 2);
  const before = writer.length;
  writeText(writer, 2, envelope.kind);
  writeText(writer, 1, envelope.apiVersion);
  writer.lengthSince(before);
  writer.tag(1, 2);
  writer.raw(magic);
  return writer.finish();
}

export function decodeEnvelope(bytes: Uint8Array): Envelope {
  if (!isEnvelope(bytes))
    throw new ProtobufError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  const found = { apiVersion: "", kind: "", raw: new Uint8Array() as Uint8Array, contentEncoding: "", contentType: "" };
  const reader = new ProtobufReader(bytes.subarray(magic.length));
  reader.fields((number, wire) => {
    if (number === 1) {
      reader.message((inner, innerWire) => {
        if (inner === 1) found.apiVersion = reader.string();
        else if (inner === 2) found.kind = reader.string();
        else reader.skip(innerWire);
      });
    } else if (number === 2) found.raw = reader.bytes();
    else if (number === 3) found.contentEncoding = reader.string();
    else if (number === 4) found.contentType = reader.string();
    else reader.skip(wire);
  });
  return found;
}

function writeText(writer: ProtobufWriter, number: number, text: string): void {
  writer.string(text);
  writer.tag(number, 2);
}
