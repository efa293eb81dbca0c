import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MetricsFlagOptions, metricsFrom, metricsOptions } from "./metrics.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "k8ts-metrics-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function settingsOf(...words: readonly string[]) {
  const command = new Command("test").exitOverride().configureOutput({ writeErr: () => {} });
  for (const option of metricsOptions()) command.addOption(option);
  let options: MetricsFlagOptions = {};
  command.action((given: MetricsFlagOptions) => {
    options = given;
  });
  command.parse(words, { from: "user" });
  const { allowed, ...others } = metricsFrom(options);
  const labels = [...(allowed ?? [])].flatMap(([metric, byLabel]) =>
    [...byLabel].map(([label, values]) => `${metric} ${label} ${[...values].join("|")}`),
  );
  return { ...others, labels };
}

function file(text: string): string {
  const path = join(folder, `${text.length}.yaml`);
  writeFileSync(path, text);
  return path;
}

const NOTHING = { disabled: [], showsHidden: false, labels: [] };

describe("the flags about metrics", () => {
  it.each<{ name: string; words: () => readonly string[]; want: object }>([
    { name: "none", words: () => [], want: NOTHING },
    {
      name: "hidden ones",
      words: () => ["--show-hidden-metrics-for-version=1.35"],
      want: { ...NOTHING, showsHidden: true },
    },
    {
      name: "disabled ones",
      words: () => ["--disabled-metrics=a,b:c", "--disabled-metrics", "d"],
      want: { ...NOTHING, disabled: ["a", "b:c", "d"] },
    },
    {
      name: "labels of one metric",
      words: () => ["--allow-metric-labels=m,verb=GET,LIST"],
      want: { ...NOTHING, labels: ["m verb GET|LIST"] },
    },
    {
      name: "labels of several metrics",
      words: () => ["--allow-metric-labels", '"m,verb=GET,LIST","n,code=200"', "--allow-metric-labels=m,code=1"],
      want: { ...NOTHING, labels: ["m verb GET|LIST", "m code 1", "n code 200"] },
    },
    {
      name: "labels of a file",
      words: () => ["--allow-metric-labels-manifest", file('"m,verb": "GET,LIST"\n')],
      want: { ...NOTHING, labels: ["m verb GET|LIST"] },
    },
    {
      name: "labels of a file and a flag",
      words: () => ["--allow-metric-labels-manifest", file('"m,verb": "GET"\n'), "--allow-metric-labels=n,x=1"],
      want: { ...NOTHING, labels: ["n x 1"] },
    },
  ])("$name", ({ words, want }) => {
    expect(settingsOf(...words())).toEqual(want);
  });

  const format =
    "--allow-metric-labels must have a list of kv pair with format `metricName,labelName=labelValue, labelValue,...`";
  it.each<{ words: () => readonly string[]; want: string }>([
    ...["1.36", "1.34", "1", "v1.35"].map((version) => ({
      words: () => [`--show-hidden-metrics-for-version=${version}`],
      want: "--show-hidden-metrics-for-version must be omitted or have the value '1.35'. Only the previous minor version is allowed",
    })),
    {
      words: () => ["--disabled-metrics=a-b"],
      want: '--disabled-metrics must be fully qualified metric names matching "^[a-zA-Z_:][a-zA-Z0-9_:]*$", got "a-b"',
    },
    { words: () => ["--allow-metric-labels=m=GET"], want: format },
    {
      words: () => ["--allow-metric-labels=m"],
      want: 'invalid argument "m" for "--allow-metric-labels" flag: m must be formatted as key=value',
    },
    {
      words: () => ["--allow-metric-labels-manifest=/none/such"],
      want: "failed to read allow list manifest: open /none/such: no such file or directory",
    },
    {
      words: () => ["--allow-metric-labels-manifest", file("- a\n")],
      want: "failed to parse allow list manifest: it is not a map of strings",
    },
    {
      words: () => ["--allow-metric-labels-manifest", file("m: GET\n")],
      want: `invalid allow list mapping in manifest: ${format}`,
    },
  ])("are refused: $want", ({ words, want }) => {
    expect(() => settingsOf(...words())).toThrow(expect.objectContaining({ message: want }));
  });
});
