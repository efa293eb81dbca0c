/** Watch events in protobuf: a frame is a length in four bytes and a message that holds the object in its envelope. */
import { ProtobufReader } from "./reader.ts";
import { ProtobufWriter } from "./writer.ts";

export interface WatchFrame {
  /** ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. */
  readonly type: string;
  /** In its envelope. */
  readonly object: Uint8Array;
}

const lengthBytes = 4;

export function encodeWatchFrame({ type, object }: WatchFrame): Uint8Array<ArrayBuffer> {
  const writer = new ProtobufWriter(object.length + 64);
  writer.bytes(object);
  writer.tag(1, 2);
  writer.lengthSince(0);
  writer.tag(2, 2);
  writer.string(type);
  writer.tag(1, 2);
  const { length } = writer;
  writer.raw(Uint8Array.of(length >>> 24, length >>> 16, length >>> 8, length));
  return writer.finish();
}

/** The first frame of the bytes and the rest; undefined while the frame is incomplete. */
export function decodeWatchFrame(
  bytes: Uint8Array,
): { readonly frame: WatchFrame; readonly rest: Uint8Array } | undefined {
  if (bytes.length < lengthBytes) return undefined;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  if (bytes.length < lengthBytes + length) return undefined;
  const frame = { type: "", object: new Uint8Array() as Uint8Array };
  const reader = new ProtobufReader(bytes.subarray(lengthBytes, lengthBytes + length));
  reader.fields((number, wire) => {
    if (number === 1) frame.type = reader.string();
    else if (number === 2) {
      reader.message((inner, innerWire) => {
        if (inner === 1) frame.object = reader.bytes();
        else reader.skip(innerWire);
      });
    } else reader.skip(wire);
  });
  return { frame, rest: bytes.subarray(lengthBytes + length) };
}
