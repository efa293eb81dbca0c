/** The routes by the first part of the path. Streams are in streams/. */
import { availableParallelism, uptime } from "node:os";
import { isAbort, metricsContentType, table } from "#base";
import { configz } from "./configz.ts";
import { type Answer, type Ask, type Handler, json, Refusal, text } from "./exchange.ts";
import { health } from "./health.ts";
import { containerLog } from "./logs/container-logs.ts";
import { nodeLogs } from "./logs/node-logs.ts";
import { podList, runningPods } from "./pod-lists.ts";
import { runCommand } from "./run-command.ts";
import type { Served } from "./served.ts";
import { cadvisorMetrics } from "./stats/cadvisor-metrics.ts";
import { exposition } from "./stats/exposition.ts";
import { NodeMeasurements } from "./stats/node-stats.ts";
import { failedResourceMetrics, resourceMetrics } from "./stats/resource-metrics.ts";
import { summary } from "./stats/summary.ts";

export type Routes = Readonly<Record<string, Handler>>;

export function routes(served: Served): Routes {
  const { kubelet, clock, log, metrics } = served;
  const { config } = kubelet;
  const measurements = new NodeMeasurements(kubelet, clock);

  const figures = table<Handler>({
    "": () => metricsText(metrics.text()),
    resource: async ({ signal }) => {
      try {
        return metricsText(exposition(resourceMetrics(await measurements.measure(signal))));
      } catch (error) {
        if (isAbort(error, signal)) throw error;
        log.error("the node could not be measured", { error });
        return metricsText(exposition(failedResourceMetrics()));
      }
    },
    cadvisor: async ({ signal }) => {
      const stats = await measurements.measure(signal);
      const facts = { cpus: availableParallelism(), memoryBytes: stats.machine.memoryBytes };
      return metricsText(exposition(cadvisorMetrics(stats, { ...facts, cgroupRoot: config.cgroupRoot })));
    },
    probes: () => metricsText(familiesOf(metrics.text(), "prober_")),
  });

  return table<Handler>({
    containerLogs: reading(async (ask) => ({
      status: 200,
      headers: { "content-type": "text/plain" },
      body: await containerLog(served, ask),
    })),
    run: (ask) => runCommand(served, ask),
    pods: reading(() => json(podList(kubelet.pods()))),
    runningpods: reading(async ({ signal }) => json(await runningPods(served, signal))),
    healthz: reading((ask) => health(served, ask)),
    configz: reading(() => json(configz(config))),
    stats: reading(async ({ rest, signal }) => {
      if (rest[0] !== "summary") throw notFound();
      const bootMs = clock.now() - uptime() * 1000;
      return json(summary(config.nodeName, await measurements.measure(signal), bootMs));
    }),
    metrics: reading((ask) => {
      const handler = figures[ask.rest[0] ?? ""];
      if (handler === undefined) throw notFound();
      return handler(ask);
    }),
    checkpoint: () => text(501, "this kubelet does not make checkpoints of containers\n"),
    logs: config.systemLogs
      ? reading((ask) => nodeLogs(config.systemLogRoot, ask))
      : () => text(405, "logs endpoint is disabled.\n"),
  });
}

function reading(handler: Handler): Handler {
  return (ask: Ask) => {
    if (ask.method !== "GET" && ask.method !== "HEAD") throw new Refusal(405, "405: Method Not Allowed");
    return handler(ask);
  };
}

function notFound(): Refusal {
  return new Refusal(404, "404 page not found\n");
}

function metricsText(body: string): Answer {
  return { status: 200, headers: { "content-type": metricsContentType }, body };
}

/** Only metrics with these prefixes. */
function familiesOf(all: string, prefix: string): string {
  const lines = all.split("\n").filter((line) => line.replace(/^# (HELP|TYPE) /, "").startsWith(prefix));
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}
