/**
 * gRPC services as tables: field numbers, types, methods. TypeScript types are derived from the tables. No .proto file
 * is read, so it works inside a bundle.
 *
 * 1. Only field numbers are sent: the names are ours, and unused fields are left out. Unknown fields are skipped.
 * 2. int64 is decoded as a decimal string: times in nanoseconds do not fit a JavaScript number.
 * 3. Enums are int32; messages.ts has their values.
 */
import { fromJSON, type ServiceDefinition } from "@grpc/proto-loader";

/** A type is a scalar, a message of the table, either of them with `[]`, or `map`: from string to string. */
export type MessageTable = Readonly<Record<string, Readonly<Record<string, readonly [number: number, type: string]>>>>;
export type MethodTable = Readonly<Record<string, readonly [request: string, response: string]>>;

interface Scalars {
  bytes: Buffer;
  bool: boolean;
  int32: number;
  uint32: number;
  int64: string;
  uint64: string;
  string: string;
  map: Readonly<Record<string, string>>;
}

type Single<T, M extends MessageTable> = T extends keyof Scalars
  ? Scalars[T]
  : T extends keyof M
    ? Received<M, T> | null
    : never;

/** A decoded message: absent fields have their zero value, absent messages are null. */
export type Received<M extends MessageTable, N extends keyof M> = {
  readonly [F in keyof M[N]]: M[N][F] extends readonly [number, `${infer Item}[]`]
    ? readonly NonNullable<Single<Item, M>>[]
    : M[N][F] extends readonly [number, infer T]
      ? Single<T, M>
      : never;
};

type Sending<T, M extends MessageTable> = T extends `${infer Item}[]`
  ? readonly Sending<Item, M>[]
  : T extends "int64" | "uint64"
    ? number | string
    : T extends keyof Scalars
      ? Scalars[T]
      : T extends keyof M
        ? Sent<M, T>
        : never;

/** A message to send: absent fields have their zero value. */
export type Sent<M extends MessageTable, N extends keyof M> = {
  readonly [F in keyof M[N]]?: M[N][F] extends readonly [number, infer T] ? Sending<T, M> : never;
};

export interface Method<Request, Response> {
  readonly path: string;
  readonly encode: (request: Request) => Buffer;
  readonly decode: (bytes: Buffer) => Response;
}

export type Methods<M extends MessageTable, S extends MethodTable> = {
  readonly [K in keyof S]: Method<Sent<M, S[K][0]>, Received<M, S[K][1]>>;
};

/** `service` with its package, as in the path of its calls. */
export function methodsOf<const M extends MessageTable, const S extends MethodTable>(
  service: string,
  messages: M,
  methods: S,
): Methods<M, S> {
  const split = service.lastIndexOf(".");
  const [packageName, name] = [service.slice(0, split), service.slice(split + 1)];
  const nested: Record<string, unknown> = {};
  for (const [message, fields] of Object.entries(messages)) {
    nested[message] = {
      fields: Object.fromEntries(Object.entries(fields).map(([field, spec]) => [field, fieldOf(spec)])),
    };
  }
  nested[name] = {
    methods: Object.fromEntries(
      Object.entries(methods).map(([method, [requestType, responseType]]) => [method, { requestType, responseType }]),
    ),
  };
  const root = packageName.split(".").reduceRight((inner, part) => ({ [part]: { nested: inner } }), nested);
  const loaded = fromJSON({ nested: root } as Parameters<typeof fromJSON>[0], {
    longs: String,
    defaults: true,
    arrays: true,
    objects: true,
  });
  const definition = loaded[service] as ServiceDefinition;
  // fromJSON is untyped; the tables define the shape.
  return Object.fromEntries(
    Object.keys(methods).map((method) => [
      method,
      {
        path: `/${service}/${method}`,
        encode: definition[method]?.requestSerialize,
        decode: definition[method]?.responseDeserialize,
      },
    ]),
  ) as unknown as Methods<M, S>;
}

function fieldOf([id, type]: readonly [number, string]) {
  if (type === "map") return { id, keyType: "string", type: "string" };
  return type.endsWith("[]") ? { id, type: type.slice(0, -2), rule: "repeated" } : { id, type };
}
