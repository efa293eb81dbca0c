/**
 * The part of etcd's gRPC API (v3) that the store speaks, as a table: field numbers, types, methods. TypeScript's types
 * follow from it, and nothing is read from disk, so it also works inside a bundle.
 *
 * 1. Only the numbers travel: field names are ours, and fields we never look at are left out. Unknown ones are skipped.
 * 2. int64 comes back as a decimal string, because a JavaScript number could lose bits of member ids; revisions fit a
 *    number.
 */

import { fromJSON, type ServiceDefinition } from "@grpc/proto-loader";

const messages = {
  ResponseHeader: { clusterId: [1, "uint64"], memberId: [2, "uint64"], revision: [3, "int64"] },
  KeyValue: {
    key: [1, "bytes"],
    createRevision: [2, "int64"],
    modRevision: [3, "int64"],
    version: [4, "int64"],
    value: [5, "bytes"],
  },
  /** `type`: 0 is a put, 1 a deletion. */
  Event: { type: [1, "int32"], kv: [2, "KeyValue"], prevKv: [3, "KeyValue"] },

  RangeRequest: {
    key: [1, "bytes"],
    rangeEnd: [2, "bytes"],
    limit: [3, "int64"],
    revision: [4, "int64"],
    serializable: [7, "bool"],
    countOnly: [9, "bool"],
  },
  RangeResponse: { header: [1, "ResponseHeader"], kvs: [2, "KeyValue[]"], more: [3, "bool"], count: [4, "int64"] },
  PutRequest: { key: [1, "bytes"], value: [2, "bytes"] },
  PutResponse: { header: [1, "ResponseHeader"] },
  DeleteRangeRequest: { key: [1, "bytes"], rangeEnd: [2, "bytes"] },
  DeleteRangeResponse: { header: [1, "ResponseHeader"], deleted: [2, "int64"] },
  RequestOp: { range: [1, "RangeRequest"], put: [2, "PutRequest"], deleteRange: [3, "DeleteRangeRequest"] },
  ResponseOp: { range: [1, "RangeResponse"], put: [2, "PutResponse"], deleteRange: [3, "DeleteRangeResponse"] },
  /** `result` 0 is "equal"; `target`: 0 version, 1 createRevision, 2 modRevision. */
  Compare: {
    result: [1, "int32"],
    target: [2, "int32"],
    key: [3, "bytes"],
    version: [4, "int64"],
    createRevision: [5, "int64"],
    modRevision: [6, "int64"],
  },
  TxnRequest: { compare: [1, "Compare[]"], success: [2, "RequestOp[]"], failure: [3, "RequestOp[]"] },
  TxnResponse: { header: [1, "ResponseHeader"], succeeded: [2, "bool"], responses: [3, "ResponseOp[]"] },
  CompactionRequest: { revision: [1, "int64"], physical: [2, "bool"] },
  CompactionResponse: { header: [1, "ResponseHeader"] },

  WatchRequest: { create: [1, "WatchCreateRequest"], cancel: [2, "WatchCancelRequest"] },
  WatchCreateRequest: {
    key: [1, "bytes"],
    rangeEnd: [2, "bytes"],
    startRevision: [3, "int64"],
    prevKv: [6, "bool"],
    fragment: [8, "bool"],
  },
  WatchCancelRequest: { watchId: [1, "int64"] },
  WatchResponse: {
    header: [1, "ResponseHeader"],
    watchId: [2, "int64"],
    created: [3, "bool"],
    canceled: [4, "bool"],
    compactRevision: [5, "int64"],
    cancelReason: [6, "string"],
    fragment: [7, "bool"],
    events: [11, "Event[]"],
  },

  StatusRequest: {},
  StatusResponse: {
    header: [1, "ResponseHeader"],
    version: [2, "string"],
    dbSize: [3, "int64"],
    leader: [4, "uint64"],
    raftIndex: [5, "uint64"],
    raftTerm: [6, "uint64"],
    errors: [8, "string[]"],
    isLearner: [10, "bool"],
  },
  DefragmentRequest: {},
  DefragmentResponse: { header: [1, "ResponseHeader"] },
  MoveLeaderRequest: { targetId: [1, "uint64"] },
  MoveLeaderResponse: { header: [1, "ResponseHeader"] },
  /** `action`: 0 lists, 2 disarms; `alarm`: 1 is "no space". */
  AlarmRequest: { action: [1, "int32"], memberId: [2, "uint64"], alarm: [3, "int32"] },
  AlarmMember: { memberId: [1, "uint64"], alarm: [2, "int32"] },
  AlarmResponse: { header: [1, "ResponseHeader"], alarms: [2, "AlarmMember[]"] },

  Member: {
    id: [1, "uint64"],
    name: [2, "string"],
    peerUrls: [3, "string[]"],
    clientUrls: [4, "string[]"],
    isLearner: [5, "bool"],
  },
  MemberListRequest: {},
  MemberListResponse: { header: [1, "ResponseHeader"], members: [2, "Member[]"] },
  MemberAddRequest: { peerUrls: [1, "string[]"], isLearner: [2, "bool"] },
  MemberAddResponse: { header: [1, "ResponseHeader"], member: [2, "Member"], members: [3, "Member[]"] },
  MemberChangeRequest: { id: [1, "uint64"] },
  MemberChangeResponse: { header: [1, "ResponseHeader"], members: [2, "Member[]"] },
} as const satisfies Record<string, Readonly<Record<string, readonly [number: number, type: string]>>>;

const services = {
  KV: {
    Range: ["RangeRequest", "RangeResponse"],
    Put: ["PutRequest", "PutResponse"],
    DeleteRange: ["DeleteRangeRequest", "DeleteRangeResponse"],
    Txn: ["TxnRequest", "TxnResponse"],
    Compact: ["CompactionRequest", "CompactionResponse"],
  },
  Watch: { Watch: ["WatchRequest", "WatchResponse"] },
  Maintenance: {
    Status: ["StatusRequest", "StatusResponse"],
    Defragment: ["DefragmentRequest", "DefragmentResponse"],
    MoveLeader: ["MoveLeaderRequest", "MoveLeaderResponse"],
    Alarm: ["AlarmRequest", "AlarmResponse"],
  },
  Cluster: {
    MemberList: ["MemberListRequest", "MemberListResponse"],
    MemberAdd: ["MemberAddRequest", "MemberAddResponse"],
    MemberPromote: ["MemberChangeRequest", "MemberChangeResponse"],
    MemberRemove: ["MemberChangeRequest", "MemberChangeResponse"],
  },
} as const;

type Messages = typeof messages;
type MessageName = keyof Messages;
interface Scalars {
  bytes: Buffer;
  int32: number;
  int64: string;
  uint64: string;
  bool: boolean;
  string: string;
}

type Received<T> = T extends `${infer Item}[]`
  ? readonly Received<Item>[]
  : T extends keyof Scalars
    ? Scalars[T]
    : T extends MessageName
      ? Message<T> | null
      : never;
type Sent<T> = T extends `${infer Item}[]`
  ? readonly Sent<Item>[]
  : T extends "int64" | "uint64"
    ? number | string
    : T extends keyof Scalars
      ? Scalars[T]
      : T extends MessageName
        ? Request<T>
        : never;

type FieldType<N extends MessageName, F extends keyof Messages[N]> = Messages[N][F] extends readonly [number, infer T]
  ? T
  : never;

/** A message as it comes in: absent fields have their zero value, absent messages are null, lists may hold no nulls. */
export type Message<N extends MessageName> = {
  readonly [F in keyof Messages[N]]: FieldType<N, F> extends `${infer Item}[]`
    ? readonly NonNullable<Received<Item>>[]
    : Received<FieldType<N, F>>;
};
/** A message to send: whatever is left out has its zero value. */
export type Request<N extends MessageName> = { readonly [F in keyof Messages[N]]?: Sent<FieldType<N, F>> };

export interface Method<Req, Res> {
  readonly path: string;
  readonly encode: (request: Req) => Buffer;
  readonly decode: (bytes: Buffer) => Res;
}

export interface Rpc {
  readonly range: Method<Request<"RangeRequest">, Message<"RangeResponse">>;
  readonly put: Method<Request<"PutRequest">, Message<"PutResponse">>;
  readonly deleteRange: Method<Request<"DeleteRangeRequest">, Message<"DeleteRangeResponse">>;
  readonly txn: Method<Request<"TxnRequest">, Message<"TxnResponse">>;
  readonly compact: Method<Request<"CompactionRequest">, Message<"CompactionResponse">>;
  readonly watch: Method<Request<"WatchRequest">, Message<"WatchResponse">>;
  readonly status: Method<Request<"StatusRequest">, Message<"StatusResponse">>;
  readonly defragment: Method<Request<"DefragmentRequest">, Message<"DefragmentResponse">>;
  readonly moveLeader: Method<Request<"MoveLeaderRequest">, Message<"MoveLeaderResponse">>;
  readonly alarm: Method<Request<"AlarmRequest">, Message<"AlarmResponse">>;
  readonly memberList: Method<Request<"MemberListRequest">, Message<"MemberListResponse">>;
  readonly memberAdd: Method<Request<"MemberAddRequest">, Message<"MemberAddResponse">>;
  readonly memberPromote: Method<Request<"MemberChangeRequest">, Message<"MemberChangeResponse">>;
  readonly memberRemove: Method<Request<"MemberChangeRequest">, Message<"MemberChangeResponse">>;
}

export function createRpc(): Rpc {
  const nested: Record<string, unknown> = {};
  for (const [name, fields] of Object.entries<Readonly<Record<string, readonly [number, string]>>>(messages)) {
    nested[name] = {
      fields: Object.fromEntries(Object.entries(fields).map(([field, spec]) => [field, fieldOf(spec)])),
    };
  }
  for (const [name, methods] of Object.entries<Readonly<Record<string, readonly [string, string]>>>(services)) {
    nested[name] = {
      methods: Object.fromEntries(
        Object.entries(methods).map(([method, [requestType, responseType]]) => [method, { requestType, responseType }]),
      ),
    };
  }
  const loaded = fromJSON({ nested: { etcdserverpb: { nested } } } as Parameters<typeof fromJSON>[0], {
    longs: String,
    defaults: true,
    arrays: true,
  });
  const method = <Req, Res>(service: keyof typeof services, name: string): Method<Req, Res> => {
    // fromJSON returns an untyped value; the table above is its type.
    const definition = (loaded[`etcdserverpb.${service}`] as ServiceDefinition | undefined)?.[name];
    if (definition === undefined) throw new Error(`etcd has no method ${service}/${name}.`);
    return {
      path: `/etcdserverpb.${service}/${name}`,
      encode: definition.requestSerialize as (request: Req) => Buffer,
      decode: definition.responseDeserialize as (bytes: Buffer) => Res,
    };
  };
  return {
    range: method("KV", "Range"),
    put: method("KV", "Put"),
    deleteRange: method("KV", "DeleteRange"),
    txn: method("KV", "Txn"),
    compact: method("KV", "Compact"),
    watch: method("Watch", "Watch"),
    status: method("Maintenance", "Status"),
    defragment: method("Maintenance", "Defragment"),
    moveLeader: method("Maintenance", "MoveLeader"),
    alarm: method("Maintenance", "Alarm"),
    memberList: method("Cluster", "MemberList"),
    memberAdd: method("Cluster", "MemberAdd"),
    memberPromote: method("Cluster", "MemberPromote"),
    memberRemove: method("Cluster", "MemberRemove"),
  };
}

function fieldOf([id, type]: readonly [number, string]): { id: number; type: string; rule?: "repeated" } {
  return type.endsWith("[]") ? { id, type: type.slice(0, -2), rule: "repeated" } : { id, type };
}
