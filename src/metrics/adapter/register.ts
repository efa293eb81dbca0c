/**
 * Makes the adapter known to an API server that can reach it at a host: a Service that stands for this host, and the
 * APIServices.
 *
 * 1. An APIService of another Service is left as it is: another adapter serves it.
 * 2. What was made is removed in the end: an APIService that nobody answers holds up discovery and the deletion of
 *    namespaces.
 */
import { type apiregistration, type core, isStatusError, kinds } from "#api";
import type { CallOptions, Client } from "#client";
import { CUSTOM, CUSTOM_VERSIONS, EXTERNAL } from "./documents.ts";

export const ADAPTER_SERVICE = { namespace: "kube-system", name: "k8ts-metrics-adapter" };

export interface Reachable {
  readonly host: string;
  readonly port: number;
  /** PEM: the authority of its certificate. Undefined: it is not verified. */
  readonly ca?: string | undefined;
}

export function adapterApiServices({ port, ca }: Reachable): readonly apiregistration.APIService[] {
  const trust = ca === undefined ? { insecureSkipTLSVerify: true } : { caBundle: Buffer.from(ca).toString("base64") };
  const served = [
    ...CUSTOM_VERSIONS.map((version) => ({ group: CUSTOM, version })),
    { group: EXTERNAL, version: "v1beta1" },
  ];
  return served.map(({ group, version }) => ({
    metadata: { name: `${version}.${group}` },
    spec: {
      group,
      version,
      groupPriorityMinimum: 100,
      versionPriority: version === "v1beta2" ? 200 : 100,
      service: { ...ADAPTER_SERVICE, port },
      ...trust,
    },
  }));
}

/** Returns what removes it again. */
export async function registerAdapter(client: Client, reachable: Reachable, options: CallOptions = {}) {
  const services = client.of(kinds.Service).in(ADAPTER_SERVICE.namespace);
  const service: core.Service = {
    metadata: ADAPTER_SERVICE,
    spec: { type: "ExternalName", externalName: reachable.host },
  };
  await put(services, service, options);
  const own: string[] = [];
  const apis = client.of(kinds.APIService);
  for (const wanted of adapterApiServices(reachable)) {
    const { name = "" } = wanted.metadata;
    const known = await apis.get(name, options).catch(unlessGone);
    if (known !== undefined && known.spec?.service?.name !== ADAPTER_SERVICE.name) continue;
    await put(apis, wanted, options);
    own.push(name);
  }
  return async (last: CallOptions = {}): Promise<void> => {
    for (const name of own) await apis.delete(name, last).catch(unlessGone);
    await services.delete(ADAPTER_SERVICE.name, last).catch(unlessGone);
  };
}

interface Writable<T> {
  create(object: T, options: CallOptions): Promise<T>;
  get(name: string, options: CallOptions): Promise<T>;
  update(object: T, options: CallOptions): Promise<T>;
}

/** Creates it, or gives what is there the same spec. */
async function put<T extends core.Service | apiregistration.APIService>(
  objects: Writable<T>,
  object: T,
  options: CallOptions,
): Promise<void> {
  try {
    await objects.create(object, options);
  } catch (error) {
    if (!isStatusError(error, "AlreadyExists")) throw error;
    const known = await objects.get(object.metadata.name ?? "", options);
    await objects.update({ ...known, spec: object.spec }, options);
  }
}

function unlessGone(error: unknown): undefined {
  if (!isStatusError(error, "NotFound")) throw error;
  return undefined;
}
