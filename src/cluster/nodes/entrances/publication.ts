/**
 * What the user publishes: a port of this machine that leads to a port of a Service.
 *
 *     [ADDRESS:]PORT:SERVICE/PORT            8080:web/80
 *     [ADDRESS:]PORT:NAMESPACE/SERVICE:PORT  8080:shop/web:http, 0.0.0.0:5353:shop/dns:53/udp
 */
import { isIP } from "node:net";

export type Protocol = "TCP" | "UDP";

export interface Publication {
  /** Undefined: loopback, of both IP families. */
  readonly address?: string | undefined;
  readonly hostPort: number;
  readonly namespace: string;
  readonly service: string;
  /** A number or a name. */
  readonly port: string;
  readonly protocol: Protocol;
}

const SHAPE =
  /^(?:(?<address>[0-9.]+|\[[0-9A-Fa-f:]+\]):)?(?<hostPort>\d{1,5}):(?:(?:(?<namespace>[a-z0-9-]+)\/)?(?<service>[a-z0-9-]+):|(?<near>[a-z0-9-]+)\/)(?<port>[a-z0-9-]+)(?:\/(?<protocol>tcp|udp))?$/i;

/** A sentence if the text is none. */
export function parsePublication(text: string): Publication | string {
  const parts = SHAPE.exec(text.trim())?.groups;
  if (parts === undefined)
    return `"${text}" is not PORT:SERVICE/PORT or PORT:NAMESPACE/SERVICE:PORT, such as 8080:web/80 or 8080:shop/web:80.`;
  const { hostPort = "", namespace = "default", service, near = "", port = "", protocol = "tcp" } = parts;
  const address = parts.address?.replace(/^\[|\]$/g, "");
  if (address !== undefined && isIP(address) === 0) return `"${text}": ${address} is not an IP address.`;
  for (const number of [hostPort, port])
    if (/^\d+$/.test(number) && (Number(number) < 1 || Number(number) > 65_535))
      return `"${text}": ${number} is not a port between 1 and 65535.`;
  return {
    ...(address !== undefined && { address }),
    hostPort: Number(hostPort),
    namespace,
    service: service ?? near,
    port,
    protocol: protocol.toUpperCase() === "UDP" ? "UDP" : "TCP",
  };
}

export function publicationText({ address, hostPort, namespace, service, port, protocol }: Publication): string {
  const at = address === undefined ? "" : `${address.includes(":") ? `[${address}]` : address}:`;
  return `${at}${hostPort}:${namespace}/${service}:${port}${protocol === "UDP" ? "/udp" : ""}`;
}

/** Whether both want the same port of this machine. */
export function isSamePlace(a: Publication, b: Publication): boolean {
  return a.hostPort === b.hostPort && a.protocol === b.protocol && a.address === b.address;
}
