/** POST /checkpoint/NAMESPACE/POD/CONTAINER: the state of a running container, as a file below the kubelet's root. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Answer, type Ask, json, Refusal } from "./exchange.ts";
import { containerNames, podOf, type Served } from "./served.ts";

export async function checkpointContainer(served: Served, { rest, query, method, signal }: Ask): Promise<Answer> {
  if (method !== "POST") throw new Refusal(405, "405: Method Not Allowed");
  const { kubelet, clock } = served;
  const [namespace = "", name = "", container = ""] = rest;
  const pod = podOf(served, namespace, name);
  if (!containerNames(pod).includes(container))
    throw new Refusal(404, `container ${container} does not exist in pod ${name}`);
  const timeout = query.get("timeout") ?? "0";
  if (!/^\d{1,9}$/.test(timeout))
    throw new Refusal(
      400,
      `cannot parse value of timeout parameter: strconv.ParseInt: parsing "${timeout}": invalid syntax`,
    );
  const found = await kubelet.container(pod, container, { signal });
  const what = `${namespace}/${name}/${container}`;
  const failed = (why: string, status: number, cause?: unknown) =>
    new Refusal(status, `checkpointing of ${what} failed (${why})`, { cause });
  if (found?.state !== "running") throw failed(`container ${container} is not running`, 500);
  const folder = join(kubelet.config.rootDir, "checkpoints");
  const stamp = new Date(clock.now()).toISOString().slice(0, 19);
  const path = join(folder, `checkpoint-${name}_${namespace}-${container}-${stamp}Z.tar`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await kubelet.runtime.checkpointContainer(found.id, path, Number(timeout), signal);
  } catch (error) {
    const { message } = error as Error;
    const isUnknown = /unimplemented|unknown method/i.test(message);
    // As upstream: a runtime that knows no checkpoints has no such resource.
    throw failed(
      `${isUnknown ? "rpc error: code = Unimplemented desc = " : ""}${message}`,
      isUnknown ? 404 : 500,
      error,
    );
  }
  return json({ items: [path] });
}
