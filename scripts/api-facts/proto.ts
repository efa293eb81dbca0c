/** Reads the messages of a generated.proto: which number and type each field has. */

export interface ProtoField {
  readonly number: number;
  readonly type: string;
  readonly shape: "one" | "list" | "map";
}

export type ProtoMessages = ReadonlyMap<string, ReadonlyMap<string, ProtoField>>;

const FIELD = /^ {2}(optional|repeated) (\S+) (\w+) = (\d+);$/;
const MAP_FIELD = /^ {2}map<string, (\S+)> (\w+) = (\d+);$/;

export function readProto(text: string): ProtoMessages {
  const messages = new Map<string, Map<string, ProtoField>>();
  let fields = new Map<string, ProtoField>();
  for (const line of text.split("\n")) {
    const message = /^message (\w+) \{$/.exec(line)?.[1];
    const field = FIELD.exec(line);
    const map = MAP_FIELD.exec(line);
    if (message !== undefined) {
      fields = new Map();
      messages.set(message, fields);
    } else if (field !== null) {
      const [, label = "", type = "", name = "", number] = field;
      fields.set(name, { number: Number(number), type, shape: label === "repeated" ? "list" : "one" });
    } else if (map !== null) {
      const [, type = "", name = "", number] = map;
      fields.set(name, { number: Number(number), type, shape: "map" });
    } else if (/^ {2}[a-z]/.test(line)) {
      throw new Error(`a line of the proto is not understood: ${line}`);
    }
  }
  return messages;
}
