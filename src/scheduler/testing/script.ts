/**
 * Scripts of whole sequences: what is done, line by line, and behind it, indented, what came of it.
 *
 *     node NAME [cpu=4] [zone=Z] [taint=KEY] [label=KEY:VALUE]
 *     pod NAME [cpu=1] [priority=0] [zone=Z] [app=A] [apart] [spread] [port=80] [tolerates=KEY]
 *     delete pod NAME     delete node NAME     ready-to-go     wait SECONDS
 */
import { type core, kinds } from "#api";
import { node, pod } from "./builders.ts";
import { testScheduler } from "./test-scheduler.ts";

const ZONE = "topology.kubernetes.io/zone";

/** The script with the actual outcome. */
export async function play(script: string): Promise<string> {
  const running = await testScheduler();
  const { client, addNode, addPod, settle, clock } = running;
  const said: string[] = [];
  let before = new Map<string, string>();
  try {
    for (const line of commandsOf(script)) {
      said.push(line);
      const [verb = "", ...words] = line.split(" ");
      const [name = ""] = words;
      if (verb === "node") await addNode(nodeOf(name, valuesOf(words)));
      else if (verb === "pod") await addPod(podOf(name, valuesOf(words)));
      else if (verb === "wait") await clock.advance(Number(name) * 1000);
      else if (verb === "delete" && name === "node") await client.of(kinds.Node).delete(words[1] ?? "");
      else if (verb === "delete")
        await client
          .of(kinds.Pod)
          .in("default")
          .delete(words[1] ?? "", { gracePeriodSeconds: 0 });
      else if (verb === "ready-to-go") await letGo(running.client);
      else throw new Error(`not a command: ${line}`);
      await settle();
      const now = await storyOf(running.client);
      for (const [pod, text] of now) if (before.get(pod) !== text) said.push(`    ${pod}: ${text}`);
      for (const pod of before.keys()) if (!now.has(pod)) said.push(`    ${pod}: gone`);
      before = now;
    }
    return said.join("\n");
  } finally {
    await running.close();
  }
}

/** A script from a template literal, without indentation. */
export function trimmed(script: string): string {
  const lines = script.split("\n").filter((line) => line.trim() !== "");
  const indent = Math.min(...lines.map((line) => line.length - line.trimStart().length));
  return lines.map((line) => line.slice(indent)).join("\n");
}

function commandsOf(script: string): readonly string[] {
  return trimmed(script)
    .split("\n")
    .filter((line) => !line.startsWith(" "));
}

type Values = Readonly<Record<string, string>>;

function valuesOf(words: readonly string[]): Values {
  return Object.fromEntries(words.slice(1).map((word) => [word.split("=")[0] ?? "", word.split("=")[1] ?? "true"]));
}

function nodeOf(name: string, { cpu = "4", zone, taint, label }: Values): core.Node {
  const [key = "", value = ""] = label?.split(":") ?? [];
  return node(name, {
    allocatable: { cpu },
    labels: { ...(zone !== undefined && { [ZONE]: zone }), ...(key !== "" && { [key]: value }) },
    taints: taint === undefined ? [] : [{ key: taint, effect: "NoSchedule" }],
  });
}

function podOf(name: string, values: Values): core.Pod {
  const { cpu = "1", priority = "0", zone, app = "any", apart, spread, port, tolerates } = values;
  const mine = { labelSelector: { matchLabels: { app } } };
  const spec: Partial<core.PodSpec> = {
    priority: Number(priority),
    ...(zone !== undefined && { nodeSelector: { [ZONE]: zone } }),
    ...(tolerates !== undefined && { tolerations: [{ key: tolerates, operator: "Exists" as const }] }),
    ...(apart !== undefined && {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname", ...mine }],
        },
      },
    }),
    ...(spread !== undefined && {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule" as const, ...mine },
      ],
    }),
  };
  const hostPorts = port === undefined ? [] : [Number(port)];
  return pod(name, { requests: { cpu }, labels: { app }, hostPorts, spec });
}

async function letGo(client: Awaited<ReturnType<typeof testScheduler>>["client"]): Promise<void> {
  for (const { metadata } of (await client.of(kinds.Pod).list()).items) {
    if (metadata.deletionTimestamp === undefined) continue;
    await client
      .of(kinds.Pod)
      .in("default")
      .delete(metadata.name ?? "", { gracePeriodSeconds: 0 });
  }
}

async function storyOf(client: Awaited<ReturnType<typeof testScheduler>>["client"]): Promise<Map<string, string>> {
  const { items } = await client.of(kinds.Pod).list();
  return new Map(
    items.map(({ metadata, spec, status }) => {
      const place = spec?.nodeName === undefined ? "waits" : `on ${spec.nodeName}`;
      const promised =
        spec?.nodeName === undefined && status?.nominatedNodeName ? ` for ${status.nominatedNodeName}` : "";
      const leaving = metadata.deletionTimestamp === undefined ? "" : ", leaving";
      const condition = status?.conditions?.find(({ type }) => type === "PodScheduled");
      const why = condition?.status === "False" ? `: ${condition.message}` : "";
      return [metadata.name ?? "", `${place}${promised}${leaving}${why}`];
    }),
  );
}
