import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { recordedFiles, recordings } from "../../testing/recordings.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { fromStatus, isStatusError, StatusError, statusCodes, toStatus } from "./status.ts";
import * as errors from "./status-errors.ts";

const pods = { group: "", resource: "pods" };
const deployments = { group: "apps", resource: "deployments" };

describe("status errors", () => {
  it.each([
    [errors.notFound(pods, "x"), 404, "NotFound", 'pods "x" not found', { name: "x", kind: "pods" }],
    [
      errors.notFound(deployments, "x"),
      404,
      "NotFound",
      'deployments.apps "x" not found',
      { name: "x", group: "apps", kind: "deployments" },
    ],
    [errors.alreadyExists(pods, "x"), 409, "AlreadyExists", 'pods "x" already exists', { name: "x", kind: "pods" }],
    [
      errors.generateNameConflict(pods, "x", 1),
      409,
      "AlreadyExists",
      'pods "x" already exists, the server was not able to generate a unique name for the object',
      { name: "x", kind: "pods", retryAfterSeconds: 1 },
    ],
    [
      errors.conflict(pods, "x"),
      409,
      "Conflict",
      'Operation cannot be fulfilled on pods "x": the object has been modified; please apply your changes to the latest version and try again',
      { name: "x", kind: "pods" },
    ],
    [
      errors.applyConflict([{ reason: "FieldManagerConflict", message: 'conflict with "m"', field: ".a" }], "m"),
      409,
      "Conflict",
      "m",
      { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "m"', field: ".a" }] },
    ],
    [errors.forbidden(pods, "", "no"), 403, "Forbidden", "pods is forbidden: no", { kind: "pods" }],
    [errors.forbidden(pods, "x", "no"), 403, "Forbidden", 'pods "x" is forbidden: no', { name: "x", kind: "pods" }],
    [errors.forbidden({ group: "", resource: "" }, "", "no"), 403, "Forbidden", "forbidden: no", {}],
    [errors.unauthorized(), 401, "Unauthorized", "Unauthorized", undefined],
    [errors.badRequest("why"), 400, "BadRequest", "why", undefined],
    [
      errors.methodNotSupported(deployments, "create"),
      405,
      "MethodNotAllowed",
      'create is not supported on resources of kind "deployments.apps"',
      { group: "apps", kind: "deployments" },
    ],
    [
      errors.notAcceptable(["a/b", "c/d"]),
      406,
      "NotAcceptable",
      "only the following media types are accepted: a/b, c/d",
      undefined,
    ],
    [
      errors.unsupportedMediaType(["a/b"]),
      415,
      "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: a/b",
      undefined,
    ],
    [
      errors.requestEntityTooLarge("limit is 3"),
      413,
      "RequestEntityTooLarge",
      "Request entity too large: limit is 3",
      undefined,
    ],
    [errors.tooManyRequests("wait", 2), 429, "TooManyRequests", "wait", { retryAfterSeconds: 2 }],
    [errors.timeout("late", 1), 504, "Timeout", "Timeout: late", { retryAfterSeconds: 1 }],
    [
      errors.serverTimeout(pods, "list", 2),
      500,
      "ServerTimeout",
      "The list operation against pods could not be completed at this time, please try again.",
      { name: "list", kind: "pods", retryAfterSeconds: 2 },
    ],
    [errors.expired("old"), 410, "Expired", "old", undefined],
    [errors.gone("old"), 410, "Gone", "old", undefined],
    [errors.serviceUnavailable("later"), 503, "ServiceUnavailable", "later", undefined],
    [
      errors.internalError("boom"),
      500,
      "InternalError",
      "Internal error occurred: boom",
      { causes: [{ message: "boom" }] },
    ],
    [errors.serverResponse(404), 404, "NotFound", "the server could not find the requested resource", {}],
    [
      errors.serverResponse(405),
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
      {},
    ],
    [
      errors.serverResponse(415, "415: Unsupported Media Type"),
      415,
      "UnsupportedMediaType",
      "415: Unsupported Media Type",
      {},
    ],
    [
      errors.serverResponse(422, "x"),
      422,
      "Invalid",
      "the server rejected our request due to an error in our request",
      {},
    ],
    [errors.serverResponse(409), 409, "Conflict", "the server reported a conflict", {}],
    [errors.serverResponse(403, "no"), 403, "Forbidden", "no", {}],
    [
      errors.serverResponse(500, "x"),
      500,
      "InternalError",
      'an error on the server ("x") has prevented the request from succeeding',
      {},
    ],
    [new StatusError("", "boom"), 500, undefined, "boom", undefined],
    [new Error("boom"), 500, undefined, "boom", undefined],
    ["boom", 500, undefined, "boom", undefined],
  ])("writes %s", (error, code, reason, message, details) => {
    expect(toStatus(error)).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    });
  });

  it("reads what it wrote", () => {
    for (const error of [
      errors.conflict(pods, "x"),
      errors.internalError("boom"),
      new StatusError("", "?", { code: 502 }),
    ]) {
      expect(toStatus(fromStatus(toStatus(error)))).toEqual(toStatus(error));
    }
  });

  it("tells reasons apart and keeps causes", () => {
    const cause = new Error("inner");
    const error = errors.internalError("boom", cause);
    expect(error.cause).toBe(cause);
    expect(isStatusError(error, "InternalError")).toBe(true);
    expect(isStatusError(error, "NotFound")).toBe(false);
    expect(isStatusError(cause)).toBe(false);
  });
});

const golden = recordings("oracle/golden/");

describe.skipIf(!existsSync(golden))("answers of a real server", () => {
  const statuses = recordedFiles("oracle/golden/").flatMap((file) =>
    statusesIn(JSON.parse(readFileSync(new URL(file, golden), "utf8"))),
  );

  it("have the code of their reason, and read and write back the same", () => {
    expect(statuses.length).toBeGreaterThan(500);
    for (const status of statuses) {
      const error = fromStatus(status);
      expect(toStatus(error)).toEqual(status);
      if (error.reason !== "") expect(error.code).toBe(statusCodes[error.reason]);
    }
  });
});

function statusesIn(value: Json): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(statusesIn);
  if (!isObject(value)) return [];
  if (value.kind === "Status" && value.status === "Failure" && typeof value.code === "number") return [value];
  return Object.values(value).flatMap(statusesIn);
}
