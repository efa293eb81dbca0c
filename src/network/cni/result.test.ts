import { describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { addressesOf, pluginFailure, pluginResult } from "./result.ts";

describe("the result of a plugin", () => {
  it.each([
    { name: "nothing", stdout: " \n", want: undefined },
    { name: "an object", stdout: '{"ips":[]}', want: { ips: [] } },
  ])("$name", ({ stdout, want }) => {
    expect(pluginResult("bridge", stdout)).toEqual(want);
  });

  it.each(["null", "[]", "5", '"text"', "{", "panic: no"])("%s is not a result", (stdout) => {
    expect(() => pluginResult("bridge", stdout)).toThrow(
      `the result of plugin "bridge" is not an object: ${stdout.slice(0, 200)}`,
    );
  });
});

describe("the addresses of a result", () => {
  it.each<{ name: string; result: JsonObject; want: readonly string[] }>([
    { name: "none", result: {}, want: [] },
    { name: "null, as Go writes an empty list", result: { ips: null }, want: [] },
    {
      name: "of both families",
      result: { ips: [{ address: "10.0.0.2/24" }, { address: "fd00::2/64" }] },
      want: ["10.0.0.2", "fd00::2"],
    },
  ])("$name", ({ result, want }) => {
    expect(addressesOf(result)).toEqual(want);
  });

  it.each<{ ips: JsonObject[string]; want: string }>([
    { ips: [{ address: "10.0.0.2" }], want: "invalid CIDR address: 10.0.0.2" },
    { ips: [{ address: "10.0.0.2/24; rm" }], want: "invalid CIDR address: 10.0.0.2/24; rm" },
    { ips: [{ address: 5 }], want: "invalid CIDR address: 5" },
    { ips: [null], want: "invalid CIDR address: undefined" },
    { ips: "10.0.0.2/24", want: "the ips of a result are not a list" },
  ])("refuses $want", ({ ips, want }) => {
    expect(() => addressesOf({ ips })).toThrow(want);
  });
});

describe("the failure of a plugin", () => {
  const call = { type: "bridge", verb: "add", stderr: "", exitCode: 1 };
  it.each([
    { stdout: '{"code":7,"msg":"m","details":"d"}', want: { code: 7, details: "d" }, says: ": m; d" },
    { stdout: '{"code":"7","msg":"m","details":{}}', want: { code: 999, details: "" }, says: ": m" },
    { stdout: "null", want: { details: "null" }, says: ": exit code 1; null" },
    { stdout: '{"msg":5}', want: { details: '{"msg":5}' }, says: ': exit code 1; {"msg":5}' },
  ])("$stdout", ({ stdout, want, says }) => {
    const error = pluginFailure({ ...call, stdout });
    expect(error).toMatchObject(want);
    expect(error.message).toBe(`plugin type="bridge" failed (add)${says}`);
  });
});
