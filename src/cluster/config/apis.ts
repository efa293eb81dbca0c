/** What an API server serves, from `--runtime-config`. */
import { parseRuntimeConfig, RuntimeConfigError, type ServedApis, servedKinds } from "#api";
import { ClusterError } from "./errors.ts";

/** Kinds that the server itself, its admission plugins and its authorizers cannot do without. */
const NEEDED =
  /^(|admissionregistration\.k8s\.io|apiextensions\.k8s\.io|apiregistration\.k8s\.io|authentication\.k8s\.io|authorization\.k8s\.io|coordination\.k8s\.io|flowcontrol\.apiserver\.k8s\.io|networking\.k8s\.io|rbac\.authorization\.k8s\.io|scheduling\.k8s\.io)$/;

export function readApis(runtimeConfig: string | undefined): ServedApis {
  if (runtimeConfig === undefined) return {};
  const apis = { runtimeConfig: parseRuntimeConfig(runtimeConfig) };
  try {
    const served = new Set(servedKinds(apis));
    const missing = servedKinds().find((kind) => NEEDED.test(kind.group) && !served.has(kind));
    if (missing === undefined) return apis;
    const { group, version, names } = missing;
    const name = `${group === "" ? version : `${group}/${version}`} ${names.plural}`;
    throw new ClusterError(`--runtime-config cannot turn off ${name}: this API server needs them itself.`);
  } catch (error) {
    if (!(error instanceof RuntimeConfigError)) throw error;
    throw new ClusterError(`--runtime-config: ${error.message}`, { cause: error });
  }
}
