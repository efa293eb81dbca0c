import { describe, expect, it } from "vitest";
import { isStatusError } from "#api";
import { errorFormat, type Format, negotiate } from "./negotiate.ts";

const JSON_TYPE = "application/json";
const YAML_TYPE = "application/yaml";
const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";
const AS_TABLE = "as=Table;v=v1;g=meta.k8s.io";

const ask = (accept: string | undefined, query = "", streams = false) =>
  negotiate(accept, new URLSearchParams(query), streams);

describe("what Accept asks for", () => {
  const table = { kind: "Table", version: "v1" } as const;
  const cases: { accept: string | undefined; want: Omit<Format, "pretty"> }[] = [
    { accept: undefined, want: { type: JSON_TYPE } },
    { accept: "", want: { type: JSON_TYPE } },
    { accept: "*/*", want: { type: JSON_TYPE } },
    { accept: "application/*", want: { type: JSON_TYPE } },
    { accept: "Application/JSON", want: { type: JSON_TYPE } },
    { accept: "application/json;charset=utf-8", want: { type: JSON_TYPE } },
    { accept: "application/yaml", want: { type: YAML_TYPE } },
    { accept: "application/vnd.kubernetes.protobuf", want: { type: PROTOBUF_TYPE } },
    { accept: "application/vnd.kubernetes.protobuf;stream=watch", want: { type: PROTOBUF_TYPE } },
    { accept: "text/html,application/yaml", want: { type: YAML_TYPE } },
    // preference: quality, then what is named
    { accept: "application/json;q=0.5,application/yaml", want: { type: YAML_TYPE } },
    { accept: "application/yaml;q=0.1, application/vnd.kubernetes.protobuf;q=0.9", want: { type: PROTOBUF_TYPE } },
    { accept: "*/*,application/yaml", want: { type: YAML_TYPE } },
    { accept: "*/*,application/*,application/yaml", want: { type: YAML_TYPE } },
    { accept: "application/yaml,application/json", want: { type: YAML_TYPE } },
    // shapes
    { accept: `application/json;${AS_TABLE}`, want: { type: JSON_TYPE, as: table } },
    { accept: `application/json;${AS_TABLE},application/json`, want: { type: JSON_TYPE, as: table } },
    {
      accept: "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
      want: { type: JSON_TYPE, as: { kind: "Table", version: "v1beta1" } },
    },
    {
      accept: "application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
      want: { type: YAML_TYPE, as: { kind: "PartialObjectMetadata", version: "v1" } },
    },
    {
      accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
      want: { type: JSON_TYPE, as: { kind: "PartialObjectMetadataList", version: "v1" } },
    },
    // a shape that is not known falls back on the next clause
    { accept: "application/json;as=Table;v=v2;g=meta.k8s.io,application/json", want: { type: JSON_TYPE } },
    { accept: "application/json;as=Chart;v=v1;g=meta.k8s.io,application/yaml", want: { type: YAML_TYPE } },
    { accept: "application/json;as=Table;v=v1;g=other,application/json", want: { type: JSON_TYPE } },
  ];
  it.each(cases)("$accept", ({ accept, want }) => {
    expect(ask(accept)).toEqual({ ...want, pretty: false });
  });

  it.each([
    ["pretty=true", true],
    ["pretty=1", true],
    ["pretty=false", false],
    ["pretty=0", false],
    ["pretty=sure", false],
    ["", false],
  ])("%s", (query, pretty) => {
    expect(ask(undefined, query).pretty).toBe(pretty);
  });
});

describe("what cannot be given", () => {
  const known = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
  const watched = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
  it.each([
    { accept: "text/html", streams: false, want: `406: Not Acceptable\n\nAvailable representations: ${known}` },
    {
      accept: "text/html",
      streams: true,
      want: `406: Not Acceptable\n\nAvailable representations: ${known}, ${watched}`,
    },
    {
      accept: "application/json;as=Chart;v=v1;g=meta.k8s.io",
      streams: false,
      want: `only the following media types are accepted: ${known}`,
    },
  ])("$accept, streams: $streams", ({ accept, streams, want }) => {
    try {
      ask(accept, "", streams);
      expect.unreachable();
    } catch (error) {
      expect(isStatusError(error, "NotAcceptable") && error.message).toBe(want);
    }
  });

  it.each([
    [undefined, JSON_TYPE],
    ["text/html", JSON_TYPE],
    ["text/html,application/yaml", YAML_TYPE],
    [PROTOBUF_TYPE, PROTOBUF_TYPE],
  ])("an error for %s is told in %s", (accept, want) => {
    expect(errorFormat(accept)).toBe(want);
  });
});
