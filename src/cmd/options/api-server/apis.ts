/** Which versions of the API are served: a flag with kube-apiserver's name. */
import { InvalidArgumentError, Option } from "commander";
import { parseRuntimeConfig, RuntimeConfigError, servedKinds } from "#api";

export interface ApisFlagOptions {
  readonly runtimeConfig?: string;
}

export function apisOptions(): readonly Option[] {
  return [
    new Option(
      "--runtime-config <pairs>",
      "API versions and resources to turn on or off, such as api/beta=true,resource.k8s.io/v1beta1=true",
    ).argParser(runtimeConfig),
  ];
}

/** A flag that is given twice adds to the first. */
export function runtimeConfig(text: string, before?: string): string {
  const all = before === undefined ? text : `${before},${text}`;
  try {
    servedKinds({ runtimeConfig: parseRuntimeConfig(all) });
    return all;
  } catch (error) {
    if (error instanceof RuntimeConfigError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
