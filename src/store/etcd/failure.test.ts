import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { failureOf, isPassing } from "./failure.ts";

const error = (code: number, details: string): ServiceError =>
  Object.assign(new Error(`${code} ${details}`), { code, details, metadata: new Metadata() });
const noConnection = (why: string) =>
  error(status.UNAVAILABLE, `No connection established. Last error: ${why}. Resolution note: `);

describe("failures", () => {
  it.each([
    { given: error(status.UNAVAILABLE, "etcdserver: no leader"), kind: "leaderless", sent: false },
    { given: error(status.UNAVAILABLE, "etcdserver: leader changed"), kind: "leaderless", sent: true },
    { given: error(status.UNAVAILABLE, "etcdserver: request timed out"), kind: "leaderless", sent: true },
    {
      given: error(status.UNAVAILABLE, "etcdserver: request timed out, possibly due to previous leader failure"),
      kind: "leaderless",
      sent: true,
    },
    { given: error(status.RESOURCE_EXHAUSTED, "etcdserver: too many requests"), kind: "busy", sent: false },
    { given: error(status.RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded"), kind: "full", sent: false },
    {
      given: error(status.OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted"),
      kind: "compacted",
      sent: false,
    },
    {
      given: error(status.OUT_OF_RANGE, "etcdserver: mvcc: required revision is a future revision"),
      kind: "future",
      sent: false,
    },
    { given: error(status.INVALID_ARGUMENT, "etcdserver: request is too large"), kind: "too-large", sent: false },
    { given: error(status.DATA_LOSS, "etcdserver: corrupt cluster"), kind: "corrupt", sent: true },
    { given: error(status.PERMISSION_DENIED, "etcdserver: permission denied"), kind: "refused", sent: false },
    { given: noConnection("Error: connect ECONNREFUSED 127.0.0.1:1"), kind: "unreachable", sent: false },
    { given: error(status.UNAVAILABLE, "Connection dropped"), kind: "unreachable", sent: true },
    { given: error(status.UNKNOWN, "whatever"), kind: "unreachable", sent: true },
    { given: new Error("no gRPC error at all"), kind: "unreachable", sent: true },
  ])("$given.message: $kind, sent: $sent", ({ given, kind, sent }) => {
    expect(failureOf(given)).toMatchObject({ kind, sent, cause: given });
  });

  it.each([
    { given: "Error: connect ECONNREFUSED 127.0.0.1:1", reason: /nothing listens/ },
    { given: "Error: unable to verify the first certificate", reason: /--etcd-cafile/ },
    { given: "Error: self-signed certificate in certificate chain", reason: /--etcd-cafile/ },
    {
      given: "error:0A000412:SSL routines:ssl3_read_bytes:ssl/tls alert bad certificate: SSL alert number 42",
      reason: /--etcd-certfile/,
    },
    {
      given: "Error [ERR_TLS_CERT_ALTNAME_INVALID]: Hostname/IP does not match certificate's altnames",
      reason: /not made out/,
    },
    { given: "Error: certificate has expired", reason: /expired/ },
    { given: "Failed to connect (2026-01-01T00:00:00.000Z)", reason: /https:\/\// },
    { given: "ssl3_get_record:wrong version number", reason: /http:\/\// },
    { given: "something new", reason: /something new/ },
  ])("says in words: $given", ({ given, reason }) => {
    expect(failureOf(noConnection(given)).reason).toMatch(reason);
  });

  it("tries again only what may pass", () => {
    const passing = ["unreachable", "leaderless", "busy"];
    for (const kind of [...passing, "full", "corrupt", "too-large", "compacted", "future", "refused"] as const) {
      const failure = { kind, sent: false, reason: "", cause: undefined } as Parameters<typeof isPassing>[0];
      expect([kind, isPassing(failure)]).toEqual([kind, passing.includes(kind)]);
    }
  });
});
