/** Decodes the bodies of answers. Whatever is not as documented is an error: nothing of it gets into the cluster. */
import { type core, parseIp } from "#api";
import { CloudError, type Instance, type Route } from "../cloud.ts";

type Fields = Readonly<Record<string, unknown>>;

const ADDRESS_TYPES = ["InternalIP", "ExternalIP", "Hostname", "InternalDNS", "ExternalDNS"];
const IP_MODES = ["VIP", "Proxy"];

export function instanceOf(body: unknown): Instance {
  const fields = objectIn(body, "the instance");
  return {
    providerId: textIn(fields, "providerID"),
    type: optionalText(fields, "type"),
    zone: optionalText(fields, "zone"),
    region: optionalText(fields, "region"),
    labels: labelsIn(fields),
    addresses: addressesIn(fields),
    isShutDown: booleanIn(fields, "shutdown"),
  };
}

export function routesOf(body: unknown): readonly Route[] {
  return listIn(objectIn(body, "the answer"), "routes").map((item) => {
    const fields = objectIn(item, "a route");
    return {
      nodeName: textIn(fields, "nodeName"),
      destination: textIn(fields, "destination"),
      addresses: fields.addresses === undefined ? undefined : addressesIn(fields),
      blackhole: booleanIn(fields, "blackhole"),
    };
  });
}

export function loadBalancerOf(body: unknown): core.LoadBalancerStatus {
  const ingress = listIn(objectIn(body, "the load balancer"), "ingress").map((item) => {
    const fields = objectIn(item, "an ingress");
    const [ip, hostname, ipMode] = [
      optionalText(fields, "ip"),
      optionalText(fields, "hostname"),
      optionalText(fields, "ipMode"),
    ];
    if (ip === undefined && hostname === undefined) throw wrong("an ingress has neither ip nor hostname");
    if (ip !== undefined && parseIp(ip) === undefined) throw wrong(`ip: ${ip} is not an IP address`);
    if (ipMode !== undefined && (ip === undefined || !IP_MODES.includes(ipMode)))
      throw wrong("ipMode must be VIP or Proxy, beside an ip");
    return {
      ...(ip !== undefined && { ip, ipMode: ipMode ?? "VIP" }),
      ...(hostname !== undefined && { hostname }),
    };
  });
  return { ingress };
}

function addressesIn(fields: Fields): readonly core.NodeAddress[] {
  return listIn(fields, "addresses").map((item) => {
    const entry = objectIn(item, "an address");
    const [type, address] = [textIn(entry, "type"), textIn(entry, "address")];
    if (!ADDRESS_TYPES.includes(type)) throw wrong(`${type} is not a type of addresses`);
    if (type.endsWith("IP") && parseIp(address) === undefined) throw wrong(`${address} is not an IP address`);
    return { type, address };
  });
}

function labelsIn({ labels }: Fields): Readonly<Record<string, string>> | undefined {
  if (labels === undefined) return undefined;
  const entries = Object.entries(objectIn(labels, "labels"));
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (typeof value !== "string") throw wrong(`the label ${name} is not a text`);
      return [name, value];
    }),
  );
}

function objectIn(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(`${what} is not an object`);
  return value as Fields;
}

function listIn(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (!Array.isArray(value)) throw wrong(`${name} is not a list`);
  return value;
}

function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== "string" || value === "") throw wrong(`${name} is not a text`);
  return value;
}

function optionalText(fields: Fields, name: string): string | undefined {
  return fields[name] === undefined ? undefined : textIn(fields, name);
}

function booleanIn(fields: Fields, name: string): boolean {
  const value = fields[name] ?? false;
  if (typeof value !== "boolean") throw wrong(`${name} is not true or false`);
  return value;
}

function wrong(why: string): CloudError {
  return new CloudError(`the cloud's answer is not as documented: ${why}`);
}
