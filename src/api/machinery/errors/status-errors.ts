/** One constructor for each way in which a request fails, with the messages of Kubernetes. */
import { goQuote } from "../json/go-text.ts";
import { type StatusCause, type StatusDetails, StatusError, type StatusReason, statusCodes } from "./status.ts";

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** `pods`, `deployments.apps`. */
export function resourceName({ group, resource }: GroupResource): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** `Pod`, `Deployment.apps`. */
export function kindName({ group, kind }: GroupKind): string {
  return group === "" ? kind : `${kind}.${group}`;
}

export function notFound(resource: GroupResource, name: string): StatusError {
  return about("NotFound", resource, name, `${resourceName(resource)} ${goQuote(name)} not found`);
}

export function alreadyExists(resource: GroupResource, name: string): StatusError {
  return about("AlreadyExists", resource, name, `${resourceName(resource)} ${goQuote(name)} already exists`);
}

/** No free name was found for `generateName`. */
export function generateNameConflict(resource: GroupResource, name: string, retryAfterSeconds: number): StatusError {
  const message = `${resourceName(resource)} ${goQuote(name)} already exists, the server was not able to generate a unique name for the object`;
  return about("AlreadyExists", resource, name, message, { retryAfterSeconds });
}

export const objectModified =
  "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(resource: GroupResource, name: string, why: string = objectModified): StatusError {
  return about(
    "Conflict",
    resource,
    name,
    `Operation cannot be fulfilled on ${resourceName(resource)} ${goQuote(name)}: ${why}`,
  );
}

/** Server-side apply: other managers own fields that were to be changed. */
export function applyConflict(causes: readonly StatusCause[], message: string): StatusError {
  return new StatusError("Conflict", message, { details: { causes } });
}

export function forbidden(resource: GroupResource, name: string, why: string): StatusError {
  const what = resourceName(resource);
  const subject =
    what === "" ? "forbidden" : name === "" ? `${what} is forbidden` : `${what} ${goQuote(name)} is forbidden`;
  return about("Forbidden", resource, name, `${subject}: ${why}`);
}

export function unauthorized(message = "Unauthorized"): StatusError {
  return new StatusError("Unauthorized", message);
}

export function badRequest(message: string, cause?: unknown): StatusError {
  return new StatusError("BadRequest", message, { cause });
}

export function methodNotSupported(resource: GroupResource, action: string): StatusError {
  const message = `${action} is not supported on resources of kind ${goQuote(resourceName(resource))}`;
  return about("MethodNotAllowed", resource, "", message);
}

export function notAcceptable(accepted: readonly string[]): StatusError {
  return new StatusError("NotAcceptable", `only the following media types are accepted: ${accepted.join(", ")}`);
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`;
  return new StatusError("UnsupportedMediaType", message);
}

export function requestEntityTooLarge(why: string): StatusError {
  return new StatusError("RequestEntityTooLarge", `Request entity too large: ${why}`);
}

export function tooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  return new StatusError("TooManyRequests", message, { details: { retryAfterSeconds } });
}

export function timeout(why: string, retryAfterSeconds: number): StatusError {
  return new StatusError("Timeout", `Timeout: ${why}`, { details: { retryAfterSeconds } });
}

export function serverTimeout(resource: GroupResource, operation: string, retryAfterSeconds: number): StatusError {
  const message = `The ${operation} operation against ${resourceName(resource)} could not be completed at this time, please try again.`;
  return about("ServerTimeout", resource, operation, message, { retryAfterSeconds });
}

/** The revision or continue token is too old. */
export function expired(message: string): StatusError {
  return new StatusError("Expired", message);
}

export function gone(message: string): StatusError {
  return new StatusError("Gone", message);
}

export function serviceUnavailable(message: string): StatusError {
  return new StatusError("ServiceUnavailable", message);
}

export function internalError(why: string, cause?: unknown): StatusError {
  return new StatusError("InternalError", `Internal error occurred: ${why}`, {
    details: { causes: [{ message: why }] },
    cause,
  });
}

/** The generic answer for an HTTP code: an unknown path, an unsupported method. */
export function serverResponse(code: number, serverMessage = ""): StatusError {
  const reason = responseReasons.get(code) ?? (code >= 500 ? "InternalError" : "");
  return new StatusError(reason, responseMessage(code, serverMessage), { code, details: {} });
}

const responseReasons: ReadonlyMap<number, StatusReason> = new Map(
  (Object.keys(statusCodes) as (keyof typeof statusCodes)[])
    .filter(
      (reason) =>
        !["AlreadyExists", "Gone", "Expired", "RequestEntityTooLarge", "ServerTimeout", "StoreReadError"].includes(
          reason,
        ),
    )
    .map((reason) => [statusCodes[reason], reason]),
);

const responseMessages: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  409: "the server reported a conflict",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};

function responseMessage(code: number, serverMessage: string): string {
  if (code === 403) return serverMessage;
  if (code === 406 || code === 415) {
    return serverMessage === "" || serverMessage === "unknown"
      ? "the server was unable to respond with a content type that the client supports"
      : serverMessage;
  }
  const known = responseMessages[code];
  if (known !== undefined) return known;
  if (code >= 500)
    return `an error on the server (${goQuote(serverMessage)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${code} but did not return more information`;
}

function about(
  reason: StatusReason,
  resource: GroupResource,
  name: string,
  message: string,
  more: StatusDetails = {},
): StatusError {
  return new StatusError(reason, message, {
    details: { name, group: resource.group, kind: resource.resource, ...more },
  });
}
