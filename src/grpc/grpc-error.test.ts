import { describe, expect, it } from "vitest";
import { socketPath, socketTarget } from "./channel.ts";
import { type GrpcCode, GrpcError, grpcErrorOf, isGrpcError } from "./grpc-error.ts";

describe("GrpcError", () => {
  it.each<[GrpcCode, string]>([
    ["NOT_FOUND", "rpc error: code = NotFound desc = gone"],
    ["DEADLINE_EXCEEDED", "rpc error: code = DeadlineExceeded desc = gone"],
  ])("%s reads as in Go", (code, message) => {
    expect(new GrpcError(code, "gone").message).toBe(message);
  });

  it("comes from errors with a status, and from no others", () => {
    const answered = Object.assign(new Error("x"), { code: 5, details: "gone" });
    expect(grpcErrorOf(answered)).toMatchObject({ code: "NOT_FOUND", details: "gone", cause: answered });
    expect(grpcErrorOf(new TypeError("x"))).toBeUndefined();
  });

  it("is recognized by its code", () => {
    const error = new GrpcError("ABORTED", "");
    expect([isGrpcError(error), isGrpcError(error, "ABORTED"), isGrpcError(error, "UNKNOWN")]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe("an endpoint", () => {
  it.each([
    ["/run/c.sock", "unix:///run/c.sock"],
    ["unix:///run/c.sock", "unix:///run/c.sock"],
  ])("%s", (endpoint, want) => {
    expect(socketTarget(endpoint)).toBe(want);
  });

  it.each(["tcp://127.0.0.1:1", "c.sock", ""])("%s is refused", (endpoint) => {
    expect(() => socketPath(endpoint)).toThrow("is no socket");
  });
});
