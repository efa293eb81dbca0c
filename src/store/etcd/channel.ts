/**
 * One gRPC channel to one etcd member: address, TLS, and the settings that all channels share.
 *
 * 1. A channel has its own connection: stores in one process share nothing, and closing one leaves the others alone.
 * 2. It goes straight to the member, whatever proxies the environment names for the web.
 */

import { isIP } from "node:net";
import { checkServerIdentity } from "node:tls";
import { type ChannelCredentials, type ChannelOptions, Client, credentials } from "@grpc/grpc-js";
import { addressText, type NetworkAddress } from "#base";

export interface TlsMaterial {
  readonly ca?: Buffer | undefined;
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
}

const DEFAULT_PORT = 2379;

const SETTINGS: ChannelOptions = {
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  // connection.ts decides what is retried: it distinguishes reads from writes.
  "grpc.enable_retries": 0,
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
  // Streams of a member that is cut off end after 13 s. etcd refuses more than one ping in 5 s.
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 3_000,
  // As often as health.ts probes: what a probe finds must not be older than the probe.
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.min_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 200,
};

/** What is wrong with an endpoint's URL, or undefined. */
export function endpointProblem(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.hostname === "") {
    return `"${url}" is not the URL of an etcd member: it should look like https://10.0.0.1:2379.`;
  }
  return undefined;
}

export function addressOf(url: string): NetworkAddress {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || DEFAULT_PORT) };
}

/** `socket`: the path of a Unix socket that leads to the member. */
export function openChannel(url: string, tls: TlsMaterial, socket?: string): Client {
  const { protocol, hostname } = new URL(url);
  const address = addressOf(url).host;
  const target = socket === undefined ? addressText(addressOf(url)) : `unix://${socket}`;
  const named = { ...SETTINGS, ...(socket !== undefined && { "grpc.default_authority": hostname }) };
  if (protocol === "http:") return new Client(target, credentials.createInsecure(), named);
  if (isIP(address) === 0) {
    const options = socket === undefined ? named : { ...named, "grpc.ssl_target_name_override": hostname };
    return new Client(target, secure(tls), options);
  }
  // TLS server names cannot be addresses, and Node refuses to send one. So a placeholder is sent, which etcd ignores;
  // the certificate is still verified for the address.
  const options = { ...named, "grpc.ssl_target_name_override": "etcd" };
  return new Client(target, secure(tls, address), options);
}

function secure({ ca, cert, key }: TlsMaterial, address?: string): ChannelCredentials {
  const verify = address === undefined ? {} : { checkServerIdentity: heldTo(address) };
  return credentials.createSsl(ca ?? null, key ?? null, cert ?? null, verify);
}

function heldTo(address: string): typeof checkServerIdentity {
  return (_name, certificate) => checkServerIdentity(address, certificate);
}
