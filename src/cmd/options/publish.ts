/** `--publish` of `k8ts up`, and the words of `k8ts publish`. */
import { Option } from "commander";
import { ClusterError, type DataDir, nodeTools, openDataDir, type Publication } from "#cluster";

export interface PublishOptions {
  readonly publish?: readonly string[];
}

export const NO_CONTAINERS =
  "there is nothing to publish: the nodes are simulated, so no container listens (real nodes: k8ts up --runtime containerd)";

export function publishOption(): Option {
  return new Option(
    "--publish <port:service/port>",
    "a port of this machine that leads to a Service, such as 8080:web/80 or 8080:shop/web:80; repeatable; `k8ts publish` changes it later",
  ).argParser((value: string, before: readonly string[] = []) => [...before, value]);
}

/** Throws ClusterError for words that name none. */
export async function publications(words: readonly string[]): Promise<Publication[]> {
  const { parsePublication } = await nodeTools();
  return words.map((text) => {
    const parsed = parsePublication(text);
    if (typeof parsed === "string") throw new ClusterError(`${parsed}`);
    return parsed;
  });
}

/** Writes what is wanted before the start: the cluster reads it. */
export async function publishAtStart({ publish = [] }: PublishOptions, dir: DataDir): Promise<void> {
  if (publish.length === 0) return;
  const wanted = await publications(publish);
  const { addWanted } = await nodeTools();
  const lock = await openDataDir(dir);
  try {
    await addWanted(dir, wanted);
  } finally {
    lock.release();
  }
}
