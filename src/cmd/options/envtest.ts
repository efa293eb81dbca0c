/**
 * What is said by the environment where a test framework gives the flags: controller-runtime's envtest starts bin/etcd
 * and bin/kube-apiserver by itself.
 */
import { ClusterError } from "#cluster";
import { wholeNumber } from "./values.ts";

const MAX_NODES = 1_000;

type Variables = Readonly<Record<string, string | undefined>>;

export interface EnvtestOptions {
  /** As in `--controllers`. Undefined: none run. */
  readonly controllers?: readonly string[] | undefined;
  readonly nodes: number;
  /** Whether the process ends with its parent. */
  readonly endsWithParent: boolean;
}

export function envtestFrom(variables: Variables): EnvtestOptions {
  return {
    controllers: controllersIn(variables.K8TS_ENVTEST_CONTROLLERS ?? ""),
    nodes: nodesIn(variables.K8TS_ENVTEST_NODES ?? ""),
    endsWithParent: switchIn("K8TS_ENVTEST_END_WITH_PARENT", variables.K8TS_ENVTEST_END_WITH_PARENT ?? ""),
  };
}

function controllersIn(text: string): readonly string[] | undefined {
  if (["", "0", "false"].includes(text)) return undefined;
  if (["1", "true"].includes(text)) return ["*"];
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function nodesIn(text: string): number {
  if (text === "") return 0;
  try {
    return wholeNumber(0, MAX_NODES)(text);
  } catch (error) {
    throw new ClusterError(`K8TS_ENVTEST_NODES: ${(error as Error).message}`, { cause: error });
  }
}

function switchIn(name: string, text: string): boolean {
  if (["", "0", "false"].includes(text)) return false;
  if (["1", "true"].includes(text)) return true;
  throw new ClusterError(`${name} is 1 or 0, not "${text}".`);
}
