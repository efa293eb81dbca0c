/**
 * Where spans are sent: the `endpoint` of a TracingConfiguration.
 *
 *     http://HOST:PORT[/PATH], https://…          OTLP over HTTP; without a path: /v1/traces
 *     HOST:PORT, dns:…, unix:…                    OTLP over gRPC without TLS, as in Kubernetes
 */

/** Kubernetes' default: a collector on the same machine. */
export const DEFAULT_ENDPOINT = "localhost:4317";
const HTTP_PATH = "/v1/traces";

export type Endpoint =
  | { readonly protocol: "http"; readonly url: string }
  | { readonly protocol: "grpc"; readonly target: string };

export function endpointOf(text: string): Endpoint {
  if (!/^https?:\/\//.test(text)) return { protocol: "grpc", target: text };
  const url = new URL(text);
  if (url.pathname === "/") url.pathname = HTTP_PATH;
  return { protocol: "http", url: url.href };
}

/** Undefined: nothing is wrong with it. */
export function endpointProblem(text: string): string | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1] ?? (text.startsWith("unix:") ? "unix" : undefined);
  if (scheme === undefined) return /^(dns:)?\/*[^/\s]+$/.test(text) ? undefined : "it has to be HOST:PORT or a URL";
  if (["dns", "unix"].includes(scheme)) return undefined;
  if (["http", "https"].includes(scheme)) return URL.canParse(text) ? undefined : "it is no URL";
  return `unsupported scheme: ${scheme}.  Options are none, dns, unix, http, or https`;
}
