import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { type GrpcCode, GrpcError } from "#grpc";
import { RuntimeError } from "../runtime/runtime.ts";
import { openChannel } from "./channel.ts";
import { failureOf, isUnimplemented } from "./failure.ts";

describe("failureOf", () => {
  it.each([
    ["NOT_FOUND", "no such container", "NotFound", "rpc error: code = NotFound desc = no such container"],
    ["UNAVAILABLE", "gone", "Unavailable", "rpc error: code = Unavailable desc = gone"],
    ["DEADLINE_EXCEEDED", "late", "DeadlineExceeded", "rpc error: code = DeadlineExceeded desc = late"],
    ["ALREADY_EXISTS", "twice", "AlreadyExists", "rpc error: code = AlreadyExists desc = twice"],
    [
      "UNKNOWN",
      "context deadline exceeded: unknown",
      "DeadlineExceeded",
      "rpc error: code = Unknown desc = context deadline exceeded: unknown",
    ],
    [
      "UNKNOWN",
      "timeout 1s exceeded: context",
      "DeadlineExceeded",
      "rpc error: code = Unknown desc = timeout 1s exceeded: context",
    ],
    ["INVALID_ARGUMENT", "no", "Unknown", "rpc error: code = InvalidArgument desc = no"],
  ])("code %s, %s", (code, details, want, message) => {
    expect(failureOf(new GrpcError(code as GrpcCode, details), "/m")).toMatchObject({ code: want, message });
  });

  it("a failure without a status names the method; a RuntimeError stays", () => {
    expect(failureOf(new TypeError("x"), "/m")).toMatchObject({ code: "Unknown", message: "/m: TypeError: x" });
    const told = new RuntimeError("NotFound", "told");
    expect(failureOf(told, "/m")).toBe(told);
  });

  it("knows a method that the runtime does not have", () => {
    expect(isUnimplemented(failureOf(new GrpcError("UNIMPLEMENTED", "unknown method"), "/m"))).toBe(true);
    expect(isUnimplemented(failureOf(new GrpcError("UNAVAILABLE", ""), "/m"))).toBe(false);
  });
});

describe("openChannel", () => {
  it.each(["tcp://127.0.0.1:1", "c.sock", ""])("%s is refused", (endpoint) => {
    const open = () => openChannel(endpoint, { clock: new VirtualClock(), timeoutMs: 1 });
    expect(open).toThrow(RuntimeError);
    expect(open).toThrow("is no socket");
  });
});
