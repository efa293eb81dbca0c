import { describe, expect, it } from "vitest";
import { builtInKinds } from "#api";
import { servedVersions } from "../discovery/index.ts";
import { answerOpenApi, noDescriptions, OpenApi, type OpenApiRequest } from "./index.ts";

const openApi = new OpenApi({ descriptions: noDescriptions, kubernetesVersion: "1.36" });
openApi.set(...servedVersions(builtInKinds([])).filter(({ group }) => group === "batch"));
const now = Date.parse("2026-01-02T03:04:05Z");
const batch = openApi.documentV3("apis/batch/v1");
const { hash = "", etag = "" } = batch ?? {};
const path = "/openapi/v3/apis/batch/v1";
const PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

describe("a request", () => {
  it.each<{ name: string; request: OpenApiRequest; status: number; headers?: object }>([
    {
      name: "for a document",
      request: { path },
      status: 200,
      headers: { etag, "content-type": "application/json", vary: "Accept" },
    },
    {
      name: "for a document by its hash",
      request: { path, hash },
      status: 200,
      headers: { etag, "cache-control": "public, immutable", expires: "Sat, 02 Jan 2027 03:04:05 GMT" },
    },
    {
      name: "with a hash of before",
      request: { path, hash: "0A" },
      status: 301,
      headers: { location: `${path}?hash=${hash}` },
    },
    { name: "with what is known already", request: { path, ifNoneMatch: etag }, status: 304, headers: { etag } },
    { name: "with what was weakly known", request: { path, ifNoneMatch: `"x", W/${etag}` }, status: 304 },
    { name: "with something else known", request: { path, ifNoneMatch: '"x"' }, status: 200 },
    { name: "for what is not there", request: { path: "/openapi/v3/apis/nosuch/v1" }, status: 404 },
    { name: "for a form that is not there", request: { path, accept: "text/html" }, status: 406 },
    { name: "for any form", request: { path, accept: "application/x, */*" }, status: 200 },
    {
      name: "for the index",
      request: { path: "/openapi/v3/" },
      status: 200,
      headers: { "content-type": "text/plain; charset=utf-8" },
    },
    {
      name: "for version 2",
      request: { path: "/openapi/v2" },
      status: 200,
      headers: { "content-type": "application/json" },
    },
    {
      name: "for version 2 in protobuf",
      request: { path: "/openapi/v2", accept: PROTOBUF },
      status: 200,
      headers: { "content-type": PROTOBUF },
    },
    {
      name: "for version 2 in protobuf under its former name",
      request: { path: "/openapi/v2", accept: PROTOBUF.replace("v2.v1", "v2@v1") },
      status: 200,
      headers: { "content-type": PROTOBUF },
    },
    { name: "for version 2 in YAML", request: { path: "/openapi/v2", accept: "application/yaml" }, status: 406 },
  ])("$name is answered with $status", ({ request, status, headers = {} }) => {
    const answer = answerOpenApi(openApi, request, now);
    expect(answer).toMatchObject({ status, headers });
    expect(answer?.document !== undefined).toBe(status === 200);
  });

  it("for another path is none of OpenAPI's", () => {
    expect(answerOpenApi(openApi, { path: "/openapi/v4" }, now)).toBeUndefined();
    expect(answerOpenApi(openApi, { path: "/openapi/v3x" }, now)).toBeUndefined();
  });
});
