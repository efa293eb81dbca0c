import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "./logging.ts";

/** What the flags make of these words. */
function configOf(...words: readonly string[]) {
  const command = new Command("test").exitOverride().configureOutput({ writeErr: () => {} });
  for (const option of loggingOptions()) command.addOption(option);
  command.option("--feature-gates <gates>");
  let options: LoggingFlagOptions = {};
  command.action((given: LoggingFlagOptions) => {
    options = given;
  });
  command.parse(words, { from: "user" });
  return loggingFrom(options);
}

const NOTHING = { format: undefined, verbosity: 0, patterns: [], flushMs: 5_000 };
const ALPHA = "--feature-gates=LoggingAlphaOptions=true";

describe("the logging flags", () => {
  it.each<{ words: readonly string[]; want: object }>([
    { words: [], want: NOTHING },
    { words: ["-v", "4"], want: { ...NOTHING, verbosity: 4 } },
    { words: ["-v=4"], want: { ...NOTHING, verbosity: 4 } },
    { words: ["--v=6"], want: { ...NOTHING, verbosity: 6 } },
    { words: ["--logging-format=text"], want: { ...NOTHING, format: "klog" } },
    { words: ["--logging-format=json", "--log-flush-frequency=1m"], want: { format: "zap", flushMs: 60_000 } },
    {
      words: ["--vmodule=httplog=3,job*=5,"],
      want: {
        patterns: [
          { pattern: "httplog", verbosity: 3 },
          { pattern: "job*", verbosity: 5 },
        ],
      },
    },
    { words: [ALPHA, "--logging-format=json", "--log-json-split-stream"], want: { split: { bufferBytes: 0 } } },
    {
      words: [ALPHA, "--logging-format=text", "--log-text-split-stream=true", "--log-text-info-buffer-size=2Ki"],
      want: { split: { bufferBytes: 2048 } },
    },
    { words: ["--feature-gates=AllAlpha=true", "--log-json-split-stream"], want: NOTHING },
  ])("$words", ({ words, want }) => {
    expect(configOf(...words)).toMatchObject(want);
  });

  const regexp = "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  it.each<{ words: readonly string[]; want: string }>([
    {
      words: ["-v", "x"],
      want: 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax',
    },
    {
      words: ["--v=-1"],
      want: 'invalid argument "-1" for "-v, --v" flag: strconv.ParseUint: parsing "-1": invalid syntax',
    },
    {
      words: ["--v=2147483648"],
      want: 'invalid argument "2147483648" for "-v, --v" flag: strconv.ParseUint: parsing "2147483648": value out of range',
    },
    {
      words: ["--vmodule=a"],
      want: 'invalid argument "a" for "--vmodule" flag: "a" does not have the pattern=N format',
    },
    {
      words: ["--vmodule=a=b"],
      want: 'invalid argument "a=b" for "--vmodule" flag: parsing verbosity in "a=b": strconv.ParseUint: parsing "b": invalid syntax',
    },
    { words: ["--logging-format=xml"], want: 'format: Invalid value: "xml": Unsupported log format' },
    {
      words: ["--logging-format=json", "--vmodule=a=1"],
      want: "vmodule: Forbidden: Only supported for text log format",
    },
    {
      words: ["--log-flush-frequency=soon"],
      want: 'invalid argument "soon" for "--log-flush-frequency" flag: time: invalid duration "soon"',
    },
    {
      words: ["--log-json-split-stream=maybe"],
      want: 'invalid argument "maybe" for "--log-json-split-stream" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
    },
    {
      words: ["--log-text-info-buffer-size=x"],
      want: `invalid argument "x" for "--log-text-info-buffer-size" flag: quantities must match the regular expression ${regexp}`,
    },
    {
      words: ["--log-json-split-stream", "--log-json-info-buffer-size=1"],
      want: "[options.json.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled, options.json.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled]",
    },
    {
      words: ["--feature-gates=AllAlpha=true,LoggingAlphaOptions=false", "--log-text-split-stream"],
      want: "options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled",
    },
  ])("refuse $words", ({ words, want }) => {
    expect(() => configOf(...words)).toThrow(expect.objectContaining({ message: want }));
  });
});
