/** Flags about requests: timeouts, headers for browsers, names; with kube-apiserver's names. */
import { Option } from "commander";
import { RE2JS, RE2JSException } from "re2js";
import { ClusterError, type ServingSettings } from "#cluster";
import { duration, list, notNegative, wholeNumber } from "../values.ts";

export interface RequestFlagOptions {
  readonly requestTimeout?: number;
  readonly minRequestTimeout?: number;
  readonly corsAllowedOrigins?: readonly string[];
  readonly strictTransportSecurityDirectives?: readonly string[];
  readonly externalHostname?: string;
}

export function requestOptions(): readonly Option[] {
  return [
    new Option(
      "--request-timeout <duration>",
      "how long a request may take, unless it is long-running (default: 1m)",
    ).argParser(duration),
    new Option(
      "--min-request-timeout <seconds>",
      "watches end at a random time between once and twice this one; 0: never (default: 1800)",
    ).argParser(wholeNumber(0, 2 ** 31 - 1)),
    new Option(
      "--cors-allowed-origins <patterns>",
      "origins whose pages may use this server: regular expressions, comma-separated, pinned to the host by ^ or // and $ or :",
    ).argParser(list),
    new Option(
      "--strict-transport-security-directives <list>",
      "directives of the header Strict-Transport-Security, comma-separated, such as max-age=31536000,preload",
    ).argParser(list),
    new Option(
      "--external-hostname <host>",
      "host, or host:port, in URLs that this server publishes about itself (OpenID discovery)",
    ),
  ];
}

/** Throws ClusterError. */
export function requestsFrom(options: RequestFlagOptions): ServingSettings {
  const { requestTimeout, corsAllowedOrigins = [], strictTransportSecurityDirectives: directives = [] } = options;
  notNegative(requestTimeout, "--request-timeout can not be negative value");
  if (requestTimeout === 0)
    throw new ClusterError("--request-timeout can not be 0: every request that waits for anything would time out.");
  for (const pattern of corsAllowedOrigins) checkOrigin(pattern);
  for (const directive of directives) checkDirective(directive);
  return {
    requestTimeoutMs: requestTimeout,
    minRequestTimeoutSeconds: options.minRequestTimeout,
    allowedOrigins: corsAllowedOrigins,
    strictTransport: directives,
    externalHostname: options.externalHostname,
  };
}

/** A pattern that is not pinned to the host would also match hosts of others. */
function checkOrigin(pattern: string): void {
  if (pattern === "") throw new ClusterError("empty value in --cors-allowed-origins");
  const refused = (why: string, cause?: unknown) =>
    new ClusterError(`--cors-allowed-origins has an invalid regular expression: ${why}`, { cause });
  try {
    RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSException) throw refused(error.message, error);
    throw error;
  }
  const pinned =
    ["^", "//"].some((start) => pattern.includes(start)) && ["$", ":"].some((end) => pattern.includes(end));
  if (!pinned) throw refused("regular expression does not pin to start/end of host in the origin header");
}

function checkDirective(directive: string): void {
  if (directive.trim() === "") throw new ClusterError("empty value in strict-transport-security-directives");
  if (directive === "includeSubDomains" || directive === "preload") return;
  const [name, , ...more] = directive.split("=");
  if (name !== "max-age" || !directive.includes("=") || more.length > 0)
    throw new ClusterError(
      "--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. " +
        "see https://tools.ietf.org/html/rfc6797#section-6.1 for more information",
    );
}
