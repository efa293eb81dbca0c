/** POST /run/NAMESPACE/POD/CONTAINER?cmd=…: runs a command and returns its output. */
import { type Answer, type Ask, Refusal, text } from "./exchange.ts";
import { podOf, type Served } from "./served.ts";

const TIMEOUT_MS = 120_000;

export async function runCommand(served: Served, { method, rest, query, signal }: Ask): Promise<Answer> {
  if (method !== "POST") throw new Refusal(405, "405: Method Not Allowed");
  const [namespace, podName, name = ""] = rest;
  const pod = podOf(served, namespace, podName);
  const container = await served.kubelet.container(pod, name, { signal });
  if (container === undefined) throw new Refusal(404, `container not found (${JSON.stringify(name)})`);
  const command = (query.get("cmd") ?? "").split(" ");
  const { stdout, stderr, exitCode } = await served.kubelet.runtime.execSync(container.id, command, TIMEOUT_MS, signal);
  const output = Buffer.concat([stdout, stderr]).toString();
  if (exitCode !== 0) throw new Refusal(500, `command '${command.join(" ")}' exited with ${exitCode}: ${output}`);
  return text(200, output);
}
