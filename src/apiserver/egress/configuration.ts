/**
 * EgressSelectorConfiguration of apiserver.k8s.io: through which proxy each kind of outgoing connection passes.
 *
 * 1. Paths in messages are upstream's: all problems of a selection are reported at `service.connection`.
 */
import { at, type FieldError, field, type Json, type JsonObject } from "#api";
import { documentOf, listOf, objectOf, onlyFields, textOf } from "../configuration/document.ts";

/** `controlplane`: webhooks with a URL; `cluster`: nodes, Pods and Services; `etcd`: the store. */
export const EGRESS_NAMES = ["cluster", "controlplane", "etcd"] as const;
export type EgressName = (typeof EGRESS_NAMES)[number];

export interface TlsFiles {
  /** Default: the authorities of the system. */
  readonly caBundle?: string | undefined;
  readonly clientCert: string;
  readonly clientKey: string;
}

/** How the proxy is reached. `tls` is there for https. */
export type ProxyTransport =
  | { readonly kind: "tcp"; readonly url: string; readonly tls?: TlsFiles | undefined }
  | { readonly kind: "uds"; readonly path: string };

export type EgressConnection =
  | { readonly protocol: "Direct" }
  | { readonly protocol: "HTTPConnect"; readonly transport: ProxyTransport }
  | { readonly protocol: "GRPC"; readonly transport: ProxyTransport & { readonly kind: "uds" } };

export type EgressSelections = ReadonlyMap<EgressName, EgressConnection>;

/** The file, or what it says, cannot be used. */
export class EgressConfigError extends Error {
  override readonly name = "EgressConfigError";
}

const KIND = "EgressSelectorConfiguration";
const VERSIONS = ["v1", "v1beta1", "v1alpha1"].map((version) => `apiserver.k8s.io/${version}`);
const PROTOCOLS = ["Direct", "GRPC", "HTTPConnect"];
const PATH = at("service", "connection");

/** Throws EgressConfigError. `exists`: whether there is such a file. */
export function parseEgress(text: string, file: string, exists: (path: string) => boolean): EgressSelections {
  const document = documentOf(text, file, EgressConfigError);
  const { kind, apiVersion } = document;
  if (kind !== KIND)
    throw new EgressConfigError(`${file}: invalid service configuration object ${JSON.stringify(kind ?? "")}`);
  if (!VERSIONS.includes(textOf(apiVersion)))
    throw new EgressConfigError(`${file}: the apiVersion of an ${KIND} is ${VERSIONS.join(" or ")}`);
  const errors: FieldError[] = [];
  onlyFields(document, ["kind", "apiVersion", "egressSelections"], at(), errors);
  const found = new Map<EgressName, EgressConnection>();
  const seen = new Set<string>();
  const selections = listOf(document.egressSelections).map(objectOf);
  const connections = selections.map((selection) => connectionIn(selection, errors, exists));
  for (const [i, selection] of selections.entries()) {
    const name = textOf(selection.name).toLowerCase();
    const connection = connections[i];
    if (seen.has(name)) errors.push(field.duplicate(PATH.index(i), name));
    else if (!isEgressName(name)) errors.push(field.notSupported(PATH, name, EGRESS_NAMES));
    else if (connection !== undefined) found.set(name, connection);
    seen.add(name);
  }
  if (errors.length === 0) return found;
  const all = field.aggregate(errors.map(field.fieldErrorText));
  throw new EgressConfigError(`failed to validate egress selector configuration: ${file}: ${all}`);
}

function isEgressName(name: string): name is EgressName {
  return (EGRESS_NAMES as readonly string[]).includes(name);
}

type Exists = (path: string) => boolean;

function connectionIn(selection: JsonObject, errors: FieldError[], exists: Exists): EgressConnection | undefined {
  onlyFields(selection, ["name", "connection"], at("egressSelections"), errors);
  const connection = objectOf(selection.connection);
  onlyFields(connection, ["proxyProtocol", "transport"], PATH, errors);
  const { transport } = connection;
  const protocol = textOf(connection.proxyProtocol);
  switch (protocol) {
    case "Direct":
      if (isSet(transport))
        errors.push(
          field.invalid(PATH.child("transport"), "direct", "Transport config should be absent for direct connect"),
        );
      return { protocol };
    case "HTTPConnect": {
      if (isSet(transport)) return httpConnect(objectOf(transport), errors, exists);
      errors.push(field.required(PATH.child("transport"), "transport must be set for HTTPConnect"));
      return undefined;
    }
    case "GRPC": {
      if (!isSet(transport)) errors.push(field.required(PATH.child("transport"), "transport must be set for GRPC"));
      else if (isSet(objectOf(transport).uds)) return { protocol, transport: udsIn(objectOf(transport), errors) };
      else errors.push(field.required(PATH.child("uds"), "UDS must be set with GRPC"));
      return undefined;
    }
    default:
      errors.push(field.notSupported(PATH.child("protocol"), protocol, PROTOCOLS));
      return undefined;
  }
}

function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}

function httpConnect(transport: JsonObject, errors: FieldError[], exists: Exists): EgressConnection | undefined {
  const protocol = "HTTPConnect";
  const { tcp, uds } = transport;
  onlyFields(transport, ["tcp", "uds"], PATH.child("transport"), errors);
  if (isSet(tcp) && isSet(uds)) {
    errors.push(field.invalid(PATH.child("tcp"), objectOf(tcp), "TCP and UDS cannot both be set"));
    return undefined;
  }
  if (isSet(uds)) return { protocol, transport: udsIn(transport, errors) };
  if (isSet(tcp)) return { protocol, transport: tcpIn(objectOf(tcp), errors, exists) };
  errors.push(field.required(PATH.child("tcp"), "One of TCP or UDS must be set"));
  return undefined;
}

function udsIn(transport: JsonObject, errors: FieldError[]) {
  const uds = objectOf(transport.uds);
  onlyFields(uds, ["udsName"], PATH.child("uds"), errors);
  const path = textOf(uds.udsName);
  if (path === "")
    errors.push(field.invalid(PATH.child("udsName"), "nil", "UDSName should be present for UDS connections"));
  return { kind: "uds", path } as const;
}

function tcpIn(tcp: JsonObject, errors: FieldError[], exists: Exists): ProxyTransport {
  onlyFields(tcp, ["url", "tlsConfig"], PATH.child("tcp"), errors);
  const url = textOf(tcp.url);
  const where = PATH.child("tlsConfig");
  if (url.startsWith("http://")) {
    if (isSet(tcp.tlsConfig))
      errors.push(field.invalid(where, "nil", "TLSConfig config should not be present when using HTTP"));
    return { kind: "tcp", url };
  }
  if (!url.startsWith("https://"))
    errors.push(field.invalid(PATH.child("url"), url, "supported connection protocols are http:// and https://"));
  else if (URL.parse(url) === null) errors.push(field.invalid(PATH.child("url"), url, "it cannot be parsed"));
  else if (!isSet(tcp.tlsConfig)) errors.push(field.required(where, "TLSConfig must be present when using HTTPS"));
  else return { kind: "tcp", url, tls: tlsIn(objectOf(tcp.tlsConfig), errors, exists) };
  return { kind: "tcp", url };
}

function tlsIn(tls: JsonObject, errors: FieldError[], exists: Exists): TlsFiles {
  const path = PATH.child("tlsConfig");
  onlyFields(tls, ["caBundle", "clientCert", "clientKey"], path, errors);
  const file = (name: string, what: string, missing?: string) => {
    const value = textOf(tls[name]);
    if (value === "" && missing !== undefined) errors.push(field.invalid(path.child(name), "nil", missing));
    if (value !== "" && !exists(value))
      errors.push(field.invalid(path.child(name), value, `TLS ${what} does not exist`));
    return value;
  };
  const caBundle = file("caBundle", "config ca bundle");
  return {
    caBundle: caBundle === "" ? undefined : caBundle,
    clientCert: file("clientCert", "client cert", "Using TLS requires clientCert"),
    clientKey: file("clientKey", "client key", "Using TLS requires clientKey"),
  };
}
