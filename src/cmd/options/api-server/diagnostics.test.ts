import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { aggregationFrom, aggregationOptions } from "./aggregation.ts";
import { checkDiagnostics, diagnosticsOptions } from "./diagnostics.ts";

function parsed(...args: readonly string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  for (const option of [...diagnosticsOptions(), ...aggregationOptions()]) command.addOption(option);
  command.parse(args, { from: "user" });
  return command.opts();
}

describe("what this API server does not have", () => {
  it.each([
    ["--profiling=false", "--contention-profiling=0", "--enable-logs-handler=F"],
    ["--max-connection-bytes-per-sec=0"],
    [],
  ])("off is accepted", (...args) => {
    expect(() => checkDiagnostics(parsed(...args))).not.toThrow();
  });

  it.each(["--profiling", "--contention-profiling=true", "--enable-logs-handler", "--max-connection-bytes-per-sec=1"])(
    "%s is refused with a reason",
    (flag) => expect(() => checkDiagnostics(parsed(flag))).toThrow(/is not supported by this API server: /),
  );
});

it.each([
  { args: [], want: { toServiceIps: false, passesRedirects: false } },
  { args: ["--enable-aggregator-routing=false"], want: { toServiceIps: true, passesRedirects: false } },
  { args: ["--enable-aggregator-routing"], want: { toServiceIps: false, passesRedirects: false } },
  { args: ["--aggregator-reject-forwarding-redirect=false"], want: { toServiceIps: false, passesRedirects: true } },
])("extension API servers: $args", ({ args, want }) => expect(aggregationFrom(parsed(...args))).toEqual(want));
