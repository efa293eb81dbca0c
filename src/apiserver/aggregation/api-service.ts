/** What the server reads in an APIService. */
import type { apiregistration, KubeObject } from "#api";

export type ApiService = apiregistration.APIService;
export type ApiServiceSpec = apiregistration.APIServiceSpec;
export type Condition = apiregistration.APIServiceCondition;

export const GROUP = "apiregistration.k8s.io";
export const PLURAL = "apiservices";
export const AUTOMANAGED = "kube-aggregator.kubernetes.io/automanaged";
const DEFAULT_PORT = 443;

/** A Service of the cluster, and the port of it, behind which an API server listens. */
export interface ServiceAt {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

export function asApiService(object: KubeObject): ApiService {
  return object as unknown as ApiService;
}

export function nameFor(group: string, version: string): string {
  return `${version}.${group}`;
}

/** The group and version that an APIService of this name stands for. */
export function groupVersionOf(name: string): { readonly group: string; readonly version: string } {
  const at = name.indexOf(".");
  return { version: name.slice(0, at), group: name.slice(at + 1) };
}

/** The path of its discovery. */
export function basePathOf(name: string): string {
  const { group, version } = groupVersionOf(name);
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** Undefined: this server answers itself. */
export function serviceOf({ spec }: ApiService): ServiceAt | undefined {
  if (spec?.service === undefined) return undefined;
  const { namespace = "", name = "", port = DEFAULT_PORT } = spec.service;
  return { namespace, name, port };
}

export function availableOf({ status }: ApiService): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === "Available");
}

export function isAvailable(service: ApiService): boolean {
  return availableOf(service)?.status === "True";
}
