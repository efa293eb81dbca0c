/**
 * gRPC services as tables: field numbers, types, methods. TypeScript types are derived from the tables. No .proto file
 * is read, so it works inside a bundle.
 *
 * 1. Only field numbers are sent: the names are ours, and unused fields are left out. Unknown fields are skipped.
 * 2. int64 is decoded as a decimal string: times in nanoseconds do not fit a JavaScript number.
 * 3. Enums are int32; their values stand beside the tables.
 */
import { fromJSON, type ServiceDefinition } from "@grpc/proto-loader";

/**
 * A type is a scalar, a message of the table, `enum` with its name, any of them with `[]`, or `map`: from string to
 * string. Names of messages may have dots.
 */
export type MessageTable = Readonly<Record<string, Readonly<Record<string, readonly [number: number, type: string]>>>>;
/** With "stream", a method answers with any number of messages. */
export type MethodTable = Readonly<Record<string, readonly [request: string, response: string, stream?: "stream"]>>;
export type ServiceTable = Readonly<Record<string, MethodTable>>;

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
  : T extends `enum ${string}`
    ? number
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
  ? readonly NonNullable<Sending<Item, M>>[]
  : T extends "int64" | "uint64"
    ? number | string
    : T extends keyof Scalars
      ? Scalars[T]
      : T extends `enum ${string}`
        ? number
        : T extends keyof M
          ? Sent<M, T> | null
          : never;

/** A message to send: absent fields have their zero value. */
export type Sent<M extends MessageTable, N extends keyof M> = {
  readonly [F in keyof M[N]]?: M[N][F] extends readonly [number, infer T] ? Sending<T, M> | undefined : never;
};

export interface Method<Request, Response> {
  readonly path: string;
  readonly encode: (request: Request) => Buffer;
  readonly decode: (bytes: Buffer) => Response;
}

/** Both sides of a method. A server decodes requests and encodes responses. */
export interface ServedMethod<Request, Response> extends Method<Request, Response> {
  readonly streams: boolean;
  readonly decodeRequest: (bytes: Buffer) => unknown;
  readonly encodeResponse: (response: unknown) => Buffer;
}

export type Methods<M extends MessageTable, S extends MethodTable> = {
  readonly [K in keyof S]: ServedMethod<Sent<M, S[K][0]>, Received<M, S[K][1]>>;
};

export type Services<M extends MessageTable, S extends ServiceTable> = {
  readonly [K in keyof S]: Methods<M, S[K]>;
};

/** `service` with its package if it has one, as in the path of its calls. */
export function methodsOf<const M extends MessageTable, const S extends MethodTable>(
  service: string,
  messages: M,
  methods: S,
): Methods<M, S> {
  const split = service.lastIndexOf(".");
  const name = service.slice(split + 1);
  const services = servicesOf(service.slice(0, Math.max(split, 0)), messages, { [name]: methods });
  return services[name] as Methods<M, S>;
}

/** Several services of one package that share their messages. */
export function servicesOf<const M extends MessageTable, const S extends ServiceTable>(
  packageName: string,
  messages: M,
  services: S,
): Services<M, S> {
  const nested: Record<string, unknown> = {};
  for (const [message, fields] of Object.entries(messages)) {
    nested[flat(message)] = {
      fields: Object.fromEntries(Object.entries(fields).map(([field, spec]) => [field, fieldOf(spec)])),
    };
  }
  for (const [name, methods] of Object.entries(services)) {
    nested[name] = {
      methods: Object.fromEntries(
        Object.entries(methods).map(([method, [request, response, stream]]) => [
          method,
          { requestType: flat(request), responseType: flat(response), responseStream: stream !== undefined },
        ]),
      ),
    };
  }
  const packages = packageName === "" ? [] : packageName.split(".");
  const root = packages.reduceRight((inner, part) => ({ [part]: { nested: inner } }), nested);
  const loaded = fromJSON({ nested: root } as Parameters<typeof fromJSON>[0], {
    longs: String,
    defaults: true,
    arrays: true,
    objects: true,
  });
  // fromJSON is untyped; the tables define the shape.
  return Object.fromEntries(
    Object.entries(services).map(([name, methods]) => {
      const service = [...packages, name].join(".");
      const definition = loaded[service] as ServiceDefinition;
      return [
        name,
        Object.fromEntries(Object.keys(methods).map((each) => [each, methodOf(service, each, definition)])),
      ];
    }),
  ) as unknown as Services<M, S>;
}

function methodOf(service: string, name: string, definitions: ServiceDefinition) {
  const definition = definitions[name];
  return {
    path: `/${service}/${name}`,
    streams: definition?.responseStream ?? false,
    encode: definition?.requestSerialize,
    decode: definition?.responseDeserialize,
    decodeRequest: definition?.requestDeserialize,
    encodeResponse: definition?.responseSerialize,
  };
}

function fieldOf([id, type]: readonly [number, string]) {
  if (type === "map") return { id, keyType: "string", type: "string" };
  return type.endsWith("[]") ? { id, type: typeOf(type.slice(0, -2)), rule: "repeated" } : { id, type: typeOf(type) };
}

function typeOf(type: string): string {
  return type.startsWith("enum ") ? "int32" : flat(type);
}

/** All messages stand side by side: names are not sent, so that where a message is nested does not matter. */
function flat(name: string): string {
  return name.replaceAll(".", "_");
}
