/** Well-known types of protobuf that CSI uses. `#grpc` explains the tables. */
export const wellKnownMessages = {
  "google.protobuf.BoolValue": { value: [1, "bool"] },
  "google.protobuf.Int64Value": { value: [1, "int64"] },
  "google.protobuf.Timestamp": { seconds: [1, "int64"], nanos: [2, "int32"] },
} as const;
