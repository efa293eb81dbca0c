/** Environment variables for Services: NAME_SERVICE_HOST and NAME_SERVICE_PORT, and the older form of Docker links. */
import type { core } from "#api";

type Env = Record<string, string>;

/** Services of the Pod's namespace if enableServiceLinks is set; the API server's always. */
export function serviceEnv(pod: core.Pod, services: readonly core.Service[]): Env {
  const links = pod.spec?.enableServiceLinks ?? true;
  const env: Env = {};
  const isApiServer = ({ metadata }: core.Service) =>
    metadata.namespace === "default" && metadata.name === "kubernetes";
  // A Service of the same name in the Pod's namespace overrides the API server's.
  const known = services.filter(isApiServer);
  if (links) known.push(...services.filter(({ metadata }) => metadata.namespace === pod.metadata.namespace));
  for (const service of known) if (hasAddress(service)) Object.assign(env, envOf(service));
  return env;
}

function hasAddress({ spec }: core.Service): boolean {
  return spec?.clusterIP !== undefined && spec.clusterIP !== "" && spec.clusterIP !== "None";
}

function envOf({ metadata: { name = "" }, spec }: core.Service): Env {
  const prefix = variable(name);
  const { clusterIP: ip = "", ports = [] } = spec ?? {};
  const [first] = ports;
  const env: Env = { [`${prefix}_SERVICE_HOST`]: ip };
  if (first === undefined) return env;
  env[`${prefix}_SERVICE_PORT`] = String(first.port);
  for (const port of ports)
    if (port.name !== undefined && port.name !== "")
      env[`${prefix}_SERVICE_PORT_${variable(port.name)}`] = String(port.port);
  env[`${prefix}_PORT`] = url(ip, first);
  for (const port of ports) {
    const link = `${prefix}_PORT_${port.port}_${protocolOf(port)}`;
    env[link] = url(ip, port);
    env[`${link}_PROTO`] = protocolOf(port).toLowerCase();
    env[`${link}_PORT`] = String(port.port);
    env[`${link}_ADDR`] = ip;
  }
  return env;
}

function variable(name: string): string {
  return name.toUpperCase().replaceAll("-", "_");
}

function protocolOf({ protocol = "TCP" }: core.ServicePort): string {
  return protocol;
}

function url(ip: string, port: core.ServicePort): string {
  return `${protocolOf(port).toLowerCase()}://${ip.includes(":") ? `[${ip}]` : ip}:${port.port}`;
}
