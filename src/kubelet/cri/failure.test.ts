import { type ServiceError, status } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { RuntimeError } from "../runtime/runtime.ts";
import { socketTarget } from "./channel.ts";
import { failureOf, isUnimplemented } from "./failure.ts";

function answered(code: number, details: string): ServiceError {
  return Object.assign(new Error(details), { code, details }) as ServiceError;
}

describe("failureOf", () => {
  it.each([
    [status.NOT_FOUND, "no such container", "NotFound", "rpc error: code = NotFound desc = no such container"],
    [status.UNAVAILABLE, "gone", "Unavailable", "rpc error: code = Unavailable desc = gone"],
    [status.DEADLINE_EXCEEDED, "late", "DeadlineExceeded", "rpc error: code = DeadlineExceeded desc = late"],
    [status.ALREADY_EXISTS, "twice", "AlreadyExists", "rpc error: code = AlreadyExists desc = twice"],
    [
      status.UNKNOWN,
      "context deadline exceeded: unknown",
      "DeadlineExceeded",
      "rpc error: code = Unknown desc = context deadline exceeded: unknown",
    ],
    [
      status.UNKNOWN,
      "timeout 1s exceeded: context",
      "DeadlineExceeded",
      "rpc error: code = Unknown desc = timeout 1s exceeded: context",
    ],
    [status.INVALID_ARGUMENT, "no", "Unknown", "rpc error: code = InvalidArgument desc = no"],
  ])("code %i, %s", (code, details, want, message) => {
    expect(failureOf(answered(code, details), "/m")).toMatchObject({ code: want, message });
  });

  it("a failure without a status names the method; a RuntimeError stays", () => {
    expect(failureOf(new TypeError("x"), "/m")).toMatchObject({ code: "Unknown", message: "/m: TypeError: x" });
    const told = new RuntimeError("NotFound", "told");
    expect(failureOf(told, "/m")).toBe(told);
  });

  it("knows a method that the runtime does not have", () => {
    expect(isUnimplemented(failureOf(answered(status.UNIMPLEMENTED, "unknown method"), "/m"))).toBe(true);
    expect(isUnimplemented(failureOf(answered(status.UNAVAILABLE, ""), "/m"))).toBe(false);
  });
});

describe("socketTarget", () => {
  it.each([
    ["/run/c.sock", "unix:///run/c.sock"],
    ["unix:///run/c.sock", "unix:///run/c.sock"],
  ])("%s", (endpoint, want) => {
    expect(socketTarget(endpoint)).toBe(want);
  });

  it.each(["tcp://127.0.0.1:1", "c.sock", ""])("%s is refused", (endpoint) => {
    expect(() => socketTarget(endpoint)).toThrow("is no socket");
  });
});
